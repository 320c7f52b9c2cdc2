/**
 * A picture that is complete in itself, as SVG: title, chart, legend, and where it came from. Saved pictures, those for readers without
 * scripts and those of `ssdlab figures` are all made here.
 */

import { chartOption, leastHeight } from "./chart";
import { init } from "./charts";
import type { Canvas } from "./draw";
import { broken, textWidth } from "./fonts";
import { type Columns, tracksOf } from "./columns";
import type { Chart, Head, HeadNote, RunStyle } from "./spec";
import { colourOf, escaped, type Theme } from "./theme";
import { type Pressed, told } from "./told";

export interface Asked {
  chart: Chart;
  pressed: Pressed;
  head: Head;
  runs: RunStyle[];
  theme: Theme;
  width: number;
  /** Higher only where the chart would not be legible. */
  height: number;
}

const MARGIN = 20;
const [TITLE, WORDS, NOTE, SMALL] = [20, 14, 12.5, 11.5];
/** Pixels of the corner that a logo fits into. */
const LOGO = { width: 180, height: 36 };

export function picture(given: Asked, columns: Columns): string {
  const notes = given.head.notes.filter(({ runs }) => runs.length === 0 || runsOf(given.chart, given.pressed).some((run) => runs.includes(run)));
  const asked = marked(given, notes);
  const drawnRuns = runsOf(given.chart, given.pressed).join();
  const said = given.head.parts.find(({ runs }) => runs.join() === drawnRuns) ?? given.head;
  const { chart, pressed, head, runs, theme, width } = asked;
  const room = width - 2 * MARGIN;
  const out: string[] = [];
  let y = MARGIN;
  const write = (text: string, size: number, fill: string, more = "") => {
    y += size * 1.3;
    out.push(`<text x="${MARGIN}" y="${round(y - size * 0.3)}" font-size="${size}" fill="${fill}"${more}>${escaped(text)}</text>`);
  };
  const beside = room - (theme.logo === "" ? 0 : LOGO.width + MARGIN);
  if (theme.logo !== "") out.push(`<image x="${width - MARGIN - LOGO.width}" y="${MARGIN}" width="${LOGO.width}" height="${LOGO.height}" preserveAspectRatio="xMaxYMin meet" href="${escaped(theme.logo)}"/>`);
  const titled = ` font-weight="bold"${theme.headings === theme.font ? "" : ` font-family="${escaped(theme.headings)}"`}`;
  if (head.title !== "") for (const line of broken(head.title, beside, TITLE, theme.headings, true)) write(line, TITLE, theme.text, titled);
  const shown = viewWords(chart, pressed);
  const facts = [shown, ...said.facts].filter((text) => text !== "").join(" · ");
  if (facts !== "") for (const line of broken(facts, beside, WORDS, theme.font)) write(line, WORDS, theme.muted);
  y += 8;
  y += legend(out, runsOf(chart, pressed), asked, y);
  const foot = said.footer === "" ? [] : broken(said.footer, room, SMALL, theme.font).slice(0, 3);
  const minded = notes.flatMap((note) => broken(noted(note, notes, given.runs), room, NOTE, theme.font));
  const below = foot.length * SMALL * 1.35 + minded.length * NOTE * 1.35 + MARGIN * 0.7;
  const sized = { runs, theme, width: room };
  const height = Math.max(asked.height, Math.ceil(leastHeight(chart, chart.kind === "series" ? pressed.choice : pressed.view, sized) + y + below + 8));
  const inner = { ...sized, height: Math.round(height - y - below - 8), filled: true };
  out.push(`<g transform="translate(${MARGIN},${round(y)})">${drawn(chart, pressed, columns, inner)}</g>`);
  y = height - below;
  for (const line of minded) write(line, NOTE, theme.text);
  for (const line of foot) write(line, SMALL, theme.muted);
  const words = [head.title, ...told(chart, pressed, columns, inner), ...notes.map((note) => noted(note, notes, given.runs))].join("\n");
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}" font-family="${escaped(theme.font)}" role="img" class="ssdlab">`,
    `<title>${escaped(head.title)}</title><desc>${escaped(words)}</desc>`,
    ...(theme.faces === "" ? [] : [`<style>${theme.faces}</style>`]),
    `<rect width="${width}" height="${height}" fill="${theme.paper}"/>`,
    ...out,
    "</svg>",
  ].join("\n");
}

/** The mark of a note after the names of its runs: `[1]`; a note on the whole picture has none. */
function mark(note: HeadNote, notes: HeadNote[]): string {
  return note.runs.length === 0 ? "" : `[${notes.filter(({ runs }) => runs.length > 0).indexOf(note) + 1}]`;
}

/** The request, with the marks of its notes after the names of runs; runs that look alike share one entry and name in the legend. */
function marked(asked: Asked, notes: HeadNote[]): Asked {
  const alike = (one: number, other: number) => JSON.stringify(asked.runs[one]) === JSON.stringify(asked.runs[other]);
  const marks = (run: number) => notes.filter((note) => note.runs.some((own) => alike(own, run))).map((note) => ` ${mark(note, notes)}`).join("");
  const runs = asked.runs.map((run, at) => ({ ...run, label: run.label + marks(at), short: run.short + marks(at) }));
  if (asked.chart.kind !== "marks") return { ...asked, runs };
  const renamed = (run: number, name: string) => (name === asked.runs[run]?.label ? name + marks(run) : name);
  const views = asked.chart.views.map((view) => ({ ...view, rows: view.rows.map((row) => ({ ...row, name: renamed(row.run, row.name) })) }));
  return { ...asked, runs, chart: { ...asked.chart, views } };
}

/** A note in words, after its mark and its runs. */
function noted(note: HeadNote, notes: HeadNote[], runs: RunStyle[]): string {
  const whose = [...new Set(note.runs.map((run) => runs[run]?.short ?? ""))].join(", ");
  return note.runs.length === 0 ? note.text : `${mark(note, notes)} ${whose}: ${note.text}`;
}

/** The name of the shown view, if there are several. */
function viewWords(chart: Chart, { view, choice, measure }: Pressed): string {
  if (chart.kind === "series") return [chart.choices[choice]?.label ?? "", chart.measures[measure]?.label ?? ""].filter((text) => text !== "").join(", ");
  return chart.views.length > 1 ? (chart.views[view]?.label ?? "") : "";
}

/** Runs that the view draws, each once. */
function runsOf(chart: Chart, { view, choice }: Pressed): number[] {
  const runs = (() => {
    switch (chart.kind) {
      case "xy":
        return (chart.views[view]?.lines ?? []).map(({ run }) => run);
      case "bars":
        return (chart.views[view]?.groups ?? []).flatMap((group) => group.bars.map(({ run }) => run));
      case "marks":
        return (chart.views[view]?.rows ?? []).map(({ run }) => run);
      case "heat":
        return [chart.views[view]?.run ?? 0];
      case "timeline":
        return (chart.views[view]?.tracks ?? []).map(({ run }) => run);
      case "series":
        return tracksOf(chart, choice).map(({ run }) => run);
    }
  })();
  return [...new Set(runs)].sort((one, other) => one - other);
}

/** Writes marker and full name of each run, in as few lines as they take, and gives the height of these. */
function legend(out: string[], shown: number[], { runs, theme, width }: Asked, top: number): number {
  let [x, y] = [MARGIN, top];
  const seen = new Set<string>();
  for (const index of shown) {
    const run = runs[index];
    if (run === undefined || seen.has(JSON.stringify(run))) continue;
    seen.add(JSON.stringify(run));
    const wide = 18 + textWidth(run.label, WORDS, theme.font) + 22;
    if (x > MARGIN && x + wide > width - MARGIN + 22) [x, y] = [MARGIN, y + 21];
    const style = run.hollow ? `fill="${theme.paper}" stroke="${colourOf(run, theme)}" stroke-width="2"` : `fill="${colourOf(run, theme)}" stroke="${colourOf(run, theme)}" stroke-width="2"`;
    out.push(`<g transform="translate(${round(x + 7)},${round(y + 9)})" ${style}>${SHAPES[run.shape]}</g>`);
    out.push(`<text x="${round(x + 18)}" y="${round(y + 14)}" font-size="${WORDS}" fill="${theme.text}">${escaped(run.label)}</text>`);
    x += wide;
  }
  return shown.length === 0 ? 0 : y - top + 26;
}

const SHAPES: Record<RunStyle["shape"], string> = {
  circle: '<circle r="5"/>',
  rect: '<path d="M-4.5-4.5H4.5V4.5H-4.5z"/>',
  triangle: '<path d="M0-5L5 4.5H-5z"/>',
  diamond: '<path d="M0-6L5 0 0 6-5 0z"/>',
};

/** The chart alone, as the inside of an SVG; what ECharts names by a running number is named by its place instead. */
function drawn(chart: Chart, pressed: Pressed, columns: Columns, canvas: Canvas): string {
  const engine = init(null, null, { renderer: "svg", ssr: true, width: canvas.width, height: canvas.height });
  try {
    engine.setOption({ ...chartOption(chart, pressed, columns, canvas), toolbox: undefined, tooltip: undefined });
    return tidied(engine.renderToSVGString(), canvas.theme.font);
  } finally {
    engine.dispose();
  }
}

/**
 * One of many dots in a path: an arc to a point next to its beginning, and one back. ECharts rounds both, after which they lie anywhere around
 * the beginning, and so does the middle of the dot; two halves lie where they should.
 */
const DOT = /M(\S+) (\S+)A(\S+) \3 0 1 1 [^A]+A\3 \3 0 0 1 \1 \2(?=[M"])/g;

function tidied(svg: string, font: string): string {
  const inside = svg.replace(/^[\s\S]*?<rect[^>]*><\/rect>\s*/, "").replace(/<style[\s\S]*?<\/style>\s*/g, "").replace(/<\/svg>\s*$/, "");
  const names = new Map<string, string>();
  const renamed = (name: string) => names.get(name) ?? (names.set(name, `c${names.size}`), names.get(name) ?? name);
  return inside
    .replace(/ (pointer-events|xml:space|class)="[^"]*"/g, "")
    .replaceAll(`font-family:${escaped(font)};`, "")
    .replace(/\bid="([^"]*)"/g, (_, name: string) => `id="${renamed(name)}"`)
    .replace(/url\(#([^)]*)\)/g, (_, name: string) => `url(#${renamed(name)})`)
    .replace(DOT, (_, x: string, y: string, r: string) => `M${x} ${y}a${r} ${r} 0 1 1 -${2 * Number(r)} 0a${r} ${r} 0 1 1 ${2 * Number(r)} 0`)
    .replace(/><\/(path|rect|circle|polyline|polygon|line|use)>/g, "/>");
}

function round(value: number): number {
  return Math.round(value * 10) / 10;
}
