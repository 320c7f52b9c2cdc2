// Bundles the report's front end into the Python package, with what must travel with it: the licence texts of each npm
// package whose code is in the bundle, and those packages as components of a CycloneDX bill of materials.
import { build } from "esbuild";
import { cp, mkdir, readFile, readdir, rm, writeFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";

const here = fileURLToPath(new URL(".", import.meta.url));
const out = `${here}../python/ssdlab/report/static`;

await rm(out, { recursive: true, force: true });
await mkdir(out, { recursive: true });
// `page` is the page's script; `stills` makes pictures where there is no page, in an engine without a document.
const scripts = await build({
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
  metafile: true,
  define: { "process.env.NODE_ENV": '"production"' },
});
await build({
  entryPoints: [`${here}src/page.css`],
  outfile: `${out}/report.css`,
  minify: true,
  charset: "utf8",
  logLevel: "warning",
});

const lock = JSON.parse(await readFile(`${here}package-lock.json`, "utf8")).packages;
const bundled = Object.values(scripts.metafile.outputs)
  .flatMap((output) => Object.keys(output.inputs))
  .map((file) => /.*node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(file)?.[1])
  .filter((name) => name !== undefined);
const components = [];
for (const name of [...new Set(bundled)].sort()) {
  const folder = `${here}node_modules/${name}`;
  const { version, license } = JSON.parse(await readFile(`${folder}/package.json`, "utf8"));
  const purl = `pkg:npm/${name.replace("@", "%40")}@${version}`;
  const digest = Buffer.from(lock[`node_modules/${name}`].integrity.replace("sha512-", ""), "base64");
  components.push({
    type: "library",
    "bom-ref": purl,
    name,
    version,
    hashes: [{ alg: "SHA-512", content: digest.toString("hex") }],
    licenses: [{ expression: license }],
    purl,
  });
  // `licenses` holds the texts of code that a package took over itself.
  const texts = (await readdir(folder)).filter((file) => /^((un)?licen[cs]es?|copying|copyright|notice)/i.test(file));
  if (texts.length === 0) throw new Error(`${name} comes without the text of its licence`);
  for (const file of texts) {
    await cp(`${folder}/${file}`, `${out}/licences/${name}/${file}`, { recursive: true });
  }
}
await writeFile(`${out}/packages.json`, `${JSON.stringify(components, null, 1)}\n`);
