// Bundles the report's front end into the Python package, with the licence files that ECharts asks to travel with it.
import { build } from "esbuild";
import { cp, mkdir, readdir, rm } from "node:fs/promises";
import { fileURLToPath } from "node:url";

const here = fileURLToPath(new URL(".", import.meta.url));
const out = `${here}../python/ssdlab/report/static`;
const echarts = `${here}node_modules/echarts`;

await rm(out, { recursive: true, force: true });
await mkdir(out, { recursive: true });
// `page` is the page's script; `stills` makes pictures where there is no page, in an engine without a document.
await build({
  entryPoints: { report: `${here}src/page.ts`, pictures: `${here}src/stills.ts` },
  outdir: out,
  bundle: true,
  minify: true,
  format: "iife",
  target: ["es2022"],
  // The page is written as UTF-8; escapes would only make it longer.
  charset: "utf8",
  legalComments: "none",
  logLevel: "warning",
  define: { "process.env.NODE_ENV": '"production"' },
});
await build({
  entryPoints: [`${here}src/page.css`],
  outfile: `${out}/report.css`,
  minify: true,
  charset: "utf8",
  logLevel: "warning",
});
for (const file of ["LICENSE", "NOTICE"]) {
  await cp(`${echarts}/${file}`, `${out}/echarts-${file}`);
}
for (const file of await readdir(`${echarts}/licenses`)) {
  await cp(`${echarts}/licenses/${file}`, `${out}/echarts-licences/${file}`, { recursive: true });
}
