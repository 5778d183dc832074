// Bundles the front end into the package: script, style, and the list of every text that each page says, for the catalogues.

import { mkdir, readFile, writeFile } from "node:fs/promises";
import { build } from "esbuild";

/** Pages, each a script and a style sheet of its name. */
const PAGES = ["report", "compare", "dashboard"];

const here = new URL(".", import.meta.url);
const out = new URL("../src/holter/reports/assets/", here);
const banner = `/*! uPlot ${(await packageOf("uplot")).version}\n${await licence("uplot")}*/`;

await mkdir(out, { recursive: true });
const said = {};
for (const page of PAGES) {
  const script = await bundle(`src/${page}.ts`, `${page}.js`, { banner: { js: banner }, format: "iife", target: "es2022" });
  await bundle(`src/style/${page}.css`, `${page}.css`, {});
  await embeddable(`${page}.js`, `${page}.css`);
  said[page] = await messages(script);
}
await writeFile(new URL("messages.json", out), JSON.stringify(said, null, 1) + "\n");

/** Writes a bundle; gives the sources that are in it. */
async function bundle(entry, name, options) {
  const { metafile } = await build({
    absWorkingDir: here.pathname,
    metafile: true,
    entryPoints: [entry],
    outfile: new URL(name, out).pathname,
    bundle: true,
    minify: true,
    charset: "utf8",
    legalComments: "inline",
    logLevel: "warning",
    ...options,
  });
  const [output] = Object.values(metafile.outputs);
  return Object.entries(output.inputs).flatMap(([file, { bytesInOutput }]) => (bytesInOutput ? [file] : []));
}

/** Every text in a call of `t` in these files, each once. A call without a literal text cannot be translated and is an error. */
async function messages(files) {
  const found = new Set();
  for (const file of files.filter((f) => f.startsWith("src/") && f.endsWith(".ts") && f !== "src/text.ts")) {
    const source = (await readFile(new URL(file, here), "utf8")).replace(/^\s*(\/\/|\*|\/\*).*$/gm, "");
    for (const call of source.matchAll(/(?<![\w.])t\((.{0,4})/gs)) {
      const literal = /^t\(\s*("(?:[^"\\]|\\.)*")/s.exec(source.slice(call.index));
      if (!literal) throw new Error(`${file}: t(${call[1]}... must be given its text as a literal in double quotes`);
      found.add(JSON.parse(literal[1]));
    }
  }
  return [...found].sort();
}

async function packageOf(name) {
  return JSON.parse(await readFile(new URL(`node_modules/${name}/package.json`, here), "utf8"));
}

async function licence(name) {
  return readFile(new URL(`node_modules/${name}/LICENSE`, here), "utf8");
}

/** A report holds these files between tags of its own; nothing in them may end one. */
async function embeddable(...names) {
  for (const name of names) {
    const ends = /<\/(script|style)|<!--/i.exec(await readFile(new URL(name, out), "utf8"));
    if (ends) throw new Error(`${name} holds ${ends[0]}`);
  }
}
