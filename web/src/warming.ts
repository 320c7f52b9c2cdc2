/**
 * The smallest picture of each kind of chart. Code that an engine has run once draws the next picture in a third of the time, so these
 * are drawn, for nobody, while it would wait for the first that is asked for.
 */

import type { Columns } from "./columns";
import { picture } from "./picture";
import type { Axis, Chart, Dot, PackedColumn, Track } from "./spec";

const [TITLE, FONT] = ["a", "sans-serif"];
const [LINEAR, LOG]: Axis[] = [
  { title: TITLE, quantity: "iops", scale: "linear" },
  { title: TITLE, quantity: "ns", scale: "log" },
] as [Axis, Axis];
const POINTS: Dot[] = [1, 2].map((x) => ({ x, y: x, low: x, high: x, label: TITLE, chosen: x > 1 }));
const column = (key: string): PackedColumn => ({ key, packed: key, unit: 1 });
const TRACK: Track = { run: 0, name: TITLE, dashed: false, columns: [column("end_s"), column("one")] };
const MEASURES = [LINEAR, LOG].map((axis) => ({ key: "one", label: TITLE, axis }));

const SAMPLES: Chart[] = [
  { kind: "bars", views: [{ label: "", axis: LINEAR, better: "higher", groups: [{ name: TITLE, bars: [{ run: 0, value: 1, note: TITLE, low: 1, high: 1, rated: 1 }] }] }] },
  { kind: "xy", views: [{ label: "", x: LOG, y: LINEAR, rules: [], uprights: [], lines: [true, false].map((dashed) => ({ run: 0, name: TITLE, dashed, points: POINTS })) }] },
  { kind: "timeline", panels: MEASURES.slice(0, 1), views: [{ label: "", tracks: [TRACK], spells: [{ from_s: 0, text: TITLE, until_s: 1 }, { from_s: 1, text: TITLE }] }] },
  { kind: "marks", axis: LOG, views: [{ label: "", rows: [{ run: 0, name: TITLE, note: TITLE, marks: [1, 2].map((value) => ({ name: TITLE, value })) }] }] },
  { kind: "series", measures: MEASURES, variants: 1, choices: [{ label: "", tracks: [TRACK] }] },
];

/** Draws one of the samples, and returns whether there are more. */
export function drawSample(at: number, columns: Columns): boolean {
  const chart = SAMPLES[at];
  if (chart === undefined) return false;
  columns.put("end_s", Float64Array.of(1, 2));
  columns.put("one", Float64Array.of(1, 2));
  const palette = ["#000"];
  const theme = { text: "#000", muted: "#000", rule: "#000", grid: "#000", paper: "#fff", font: FONT, headings: FONT, palette, height: 1, faces: "", logo: "" };
  const run = { label: TITLE, short: TITLE, colour: 0, shape: "circle" as const, hollow: false };
  picture({ chart, pressed: { view: 0, choice: 0, measure: 0 }, head: { title: TITLE, facts: [TITLE], notes: [{ runs: [0], text: TITLE }], footer: TITLE, parts: [] }, runs: [run], theme, width: 900, height: 480 }, columns);
  return at + 1 < SAMPLES.length;
}
