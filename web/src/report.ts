// The report: reads the payload out of the page it stands in and shows it.

import type { Payload } from "./payload";
import { RunPage } from "./run_page";
import { speak } from "./text";
import { start } from "./theme";

const block = document.getElementById("holter-data");
const payload = JSON.parse(block?.textContent ?? "") as Payload;
start();
speak(payload.language, payload.texts);
document.body.append(new RunPage(payload).root);
