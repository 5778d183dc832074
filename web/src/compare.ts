// A comparison: reads the payload out of the page it stands in and shows it.

import { ComparePage } from "./compare_page";
import type { ComparePayload } from "./compare_payload";
import { speak } from "./text";
import { start } from "./theme";

const block = document.getElementById("holter-data");
const payload = JSON.parse(block?.textContent ?? "") as ComparePayload;
start();
speak(payload.language, payload.texts);
document.body.append(new ComparePage(payload).root);
