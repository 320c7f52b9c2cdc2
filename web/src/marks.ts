/** Quality-of-service marks: mean, p99 and p99.99 of each run on one logarithmic latency axis. */

import { axisOption, extent, place } from "./axes";
import { type Canvas, type Option, runStyle } from "./draw";
import { textWidth } from "./fonts";
import { number } from "./numbers";
import type { Axis, MarksChart, MarksView } from "./spec";
import { base, colourOf, escaped, plate } from "./theme";

type Row = MarksView["rows"][number];

/** Pixels of a label beside a mark. */
const LABEL = 108;
/** Below this width names stand over their rows, not beside them. */
const NARROW = 460;

/** Share of the width that names may take beside their rows. */
const BESIDE = 0.4;

type Sized = Pick<Canvas, "runs" | "theme" | "width">;

/** Pixels that the rows want. */
export function marksHeight(chart: MarksChart, canvas: Sized): number {
  return 64 + Math.max(...chart.views.map((view) => view.rows.length * (stacked(view, canvas) ? 92 : 44)));
}

/** The name of a row, that of a run in full where it fits, and never cut. */
export function rowNames(view: MarksView, canvas: Sized): string[] {
  const full = view.rows.map(({ name }) => name);
  const short = view.rows.map(({ name, run }) => (name === runStyle(canvas, run).label ? runStyle(canvas, run).short : name));
  const room = stacked(view, canvas) ? canvas.width - 16 : canvas.width * BESIDE;
  return widest(full, canvas) <= room ? full : short;
}

function widest(names: string[], { theme }: Sized): number {
  return Math.max(0, ...names.map((name) => textWidth(name, 13, theme.font)));
}

/** Whether names stand over their rows: the page is narrow, or even short names are too long. */
function stacked(view: MarksView, canvas: Sized): boolean {
  const short = view.rows.map(({ name, run }) => (name === runStyle(canvas, run).label ? runStyle(canvas, run).short : name));
  return canvas.width < NARROW || widest(short, canvas) > canvas.width * BESIDE;
}

export function marks(chart: MarksChart, view: MarksView, canvas: Canvas): Option {
  const { theme, width } = canvas;
  // One range for all views, so that switching compares.
  const values = chart.views.flatMap(({ rows }) => rows.flatMap((row) => row.marks.map(({ value }) => value)));
  const narrow = stacked(view, canvas);
  const names = rowNames(view, canvas);
  // Beside a name over its row only where that leaves room for the longest.
  const broken = !narrow || view.rows.some(({ note }, at) => textWidth(`${names[at]}  ${note}`, 13, theme.font) > width - 24);
  if (values.length > 0) values.push(...widened(extent(values), narrow ? LABEL / 2 : LABEL, width * 0.66));
  const common = base(theme);
  const xAxis = axisOption(chart.axis, { theme, side: "x", values, length: width });
  return {
    ...common,
    tooltip: {
      ...(common["tooltip"] as Option),
      formatter: ({ data }: { data: { told: string } }) => data.told,
    },
    grid: { left: 8, right: 12, top: 8, bottom: 40, outerBoundsMode: "same", outerBoundsContain: "axisLabel" },
    xAxis,
    yAxis: {
      type: "category",
      inverse: true,
      data: view.rows.map(({ note }, at) => (note === "" ? names[at] : `${names[at]}${broken ? "\n" : "  "}{note|${note}}`)),
      axisLine: { lineStyle: { color: theme.rule } },
      axisTick: { show: false },
      axisLabel: {
        color: theme.text,
        fontSize: 13,
        lineHeight: 17,
        interval: 0,
        ...(narrow ? { inside: true, verticalAlign: "bottom", margin: 2, padding: [0, 0, 8, 0] } : {}),
        rich: { note: { color: theme.muted, fontSize: 12 } },
      },
    },
    series: [...view.rows.map((row, at) => span(chart.axis, row, at, canvas)), ...view.rows.map((row, at) => dots(chart.axis, row, at, narrow, canvas))],
  };
}

/** The line from the first to the last mark of a row. */
function span(axis: Axis, row: Row, at: number, canvas: Canvas): Option {
  const places = row.marks.map(({ value }) => place(axis, value));
  return {
    type: "line",
    silent: true,
    showSymbol: false,
    data: extent(places).map((x) => [x, at]),
    lineStyle: { color: colourOf(runStyle(canvas, row.run), canvas.theme), width: 2, opacity: 0.45 },
    z: 2,
  };
}

const SHAPES = ["circle", "diamond", "triangle"];

/** Ends of a logarithmic range that leave so many pixels for labels on either side. */
function widened([least, most]: [number, number], room: number, length: number): [number, number] {
  const share = Math.min(0.3, room / length);
  const factor = Math.max(most / least, 4) ** (share / (1 - 2 * share));
  return [least / factor, most * factor];
}

/** Labels of a row never meet: the least stands left of its mark, the greatest right, the others above; narrow, each has a line. */
function placed(rank: number, count: number, index: number, narrow: boolean): Option {
  if (narrow) return { position: "bottom", distance: 4 + 14 * index };
  if (rank === count - 1) return { position: "right", distance: 6 };
  return rank === 0 ? { position: "left", distance: 6 } : { position: "top", distance: 8 };
}

function dots(axis: Axis, row: Row, at: number, narrow: boolean, canvas: Canvas): Option {
  const run = runStyle(canvas, row.run);
  const colour = colourOf(run, canvas.theme);
  const style = run.hollow ? { color: canvas.theme.paper, borderColor: colour, borderWidth: 2 } : { color: colour, opacity: 1 };
  const ranked = [...row.marks.keys()].sort((a, b) => (row.marks[a]?.value ?? 0) - (row.marks[b]?.value ?? 0) || a - b);
  const data = row.marks.map(({ name, value }, index) => ({
    value: [place(axis, value), at],
    symbol: SHAPES[index % SHAPES.length],
    label: { ...placed(ranked.indexOf(index), row.marks.length, index, narrow), formatter: `${name} ${number(value, axis.quantity)}` },
    told: [`${run.label} · ${row.name}`, `${name}: ${number(value, axis.quantity)}`].map(escaped).join("<br>"),
  }));
  return {
    type: "scatter",
    data,
    symbolSize: 11,
    itemStyle: style,
    emphasis: { disabled: true },
    label: { show: true, distance: 4, color: canvas.theme.text, fontSize: 12, ...plate(canvas.theme) },
    z: 3,
  };
}
