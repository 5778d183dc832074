// What the page says, in the language that is spoken. English texts are the keys; the build lists every one that stands in a
// call of `t`, and Python looks them up in its catalogues. Texts of the log are quoted, never looked up.

let spoken = "en";
let texts: Record<string, Record<string, string>> = {};

export function speak(language: string, known?: Record<string, Record<string, string>>): void {
  spoken = language;
  texts = known ?? texts;
  document.documentElement.lang = language === "zh" ? "zh-CN" : language;
}

/** Further translations, of texts that came later. */
export function know(further: Record<string, Record<string, string>>): void {
  for (const [code, more] of Object.entries(further)) texts[code] = { ...texts[code], ...more };
}

export function language(): string {
  return spoken;
}

/** A text of ours, with values put in: `t("step {step}", { step: 7 })`. */
export function t(message: string, values: Record<string, string | number> = {}): string {
  const said = texts[spoken]?.[message] ?? message;
  return said.replace(/\{(\w+)\}/g, (whole, name: string) => (name in values ? String(values[name]) : whole));
}

/** A text that came with the payload (a title, a finding), in the language spoken where the payload holds it. */
export const told: (message: string) => string = (message) => texts[spoken]?.[message] ?? message;
