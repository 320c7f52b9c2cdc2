/** Quality-of-service marks: mean, p99 and p99.99 of each run on one logarithmic latency axis. */

import { axisOption, extent, place } from "./axes";
import { type Canvas, type Option, runStyle } from "./draw";
import { textWidth } from "./fonts";
import { number } from "./numbers";
import type { Axis, MarksChart, MarksView } from "./spec";
import { base, colourOf, escaped, plate } from "./theme";

type Row = MarksView["rows"][number];

/** Below this width names stand over their rows, not beside them. */
const NARROW = 460;

/** Share of the width that names may take beside their rows. */
const BESIDE = 0.4;

type Sized = Pick<Canvas, "runs" | "theme" | "width">;

/** Height of the rows, in pixels. */
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
  const narrow = stacked(view, canvas);
  const names = rowNames(view, canvas);
  // Beside a name over its row only where that leaves room for the longest.
  const broken = !narrow || view.rows.some(({ note }, at) => textWidth(`${names[at]}  ${note}`, 13, theme.font) > width - 24);
  const common = base(theme);
  const beside = widest([...names, ...view.rows.map(({ note }) => note)], canvas);
  const xAxis = across(chart.axis, view, narrow, width - (narrow ? 30 : beside + 36), canvas);
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
        ...(narrow ? { inside: true, verticalAlign: "bottom", margin: 2, padding: [0, 0, 8, 0], backgroundColor: theme.paper } : {}),
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

/** Decades that an axis has at least, so that there are ticks; share of it that labels may take beside the marks. */
const [LEAST, LABELS] = [0.8, 0.7];
/** Pixels between a mark and the far side of the gap to its label. */
const OFF = 16;

/** The axis of a view, which is of one workload: as long as its marks, and the labels before the first and behind the last, need. */
function across(axis: Axis, view: MarksView, narrow: boolean, length: number, { theme }: Canvas): Option {
  const wide = (mark: Row["marks"][number]) => (textWidth(labelOf(axis, mark), 12, theme.font) + OFF) / (narrow ? 2 : 1);
  const rows = view.rows.map(({ marks: own }) => [...own].sort((one, other) => one.value - other.value));
  const ends = rows.flatMap(([first, ...others]) => {
    if (first === undefined) return [];
    const last = others.at(-1) ?? first;
    return [{ low: place(axis, first.value), before: first === last && !narrow ? OFF : wide(first), high: place(axis, last.value), behind: wide(last) }];
  });
  if (ends.length === 0 || axis.scale !== "log") return axisOption(axis, { theme, side: "x", values: rows.flatMap((own) => own.map(({ value }) => value)), length });
  const crowd = Math.min(1, (LABELS * length) / (Math.max(...ends.map(({ before }) => before)) + Math.max(...ends.map(({ behind }) => behind))));
  // Labels take the more of the axis the longer it is: what they need of it is found by turns.
  let [min, max] = [0, 0];
  for (let turn = 0; turn < TURNS; turn += 1) {
    const perPixel = (crowd * Math.max(LEAST, max - min)) / length;
    min = Math.min(...ends.map(({ low, before }) => low - before * perPixel));
    max = Math.max(...ends.map(({ high, behind }) => high + behind * perPixel));
  }
  const missing = Math.max(0, LEAST - (max - min)) / 2;
  [min, max] = [min - missing, max + missing];
  const option = axisOption(axis, { theme, side: "x", values: [10 ** min, 10 ** max], length });
  const within = (part: unknown) => ({ ...(part as Option), customValues: (part as { customValues: number[] }).customValues.filter((at) => at >= min && at <= max) });
  return { ...option, min, max, axisLabel: within(option["axisLabel"]), axisTick: within(option["axisTick"]) };
}

/** Turns after which an axis grows by less than a pixel: each adds at most seven tenths of what the one before did. */
const TURNS = 24;

function labelOf(axis: Axis, { name, value }: Row["marks"][number]): string {
  return `${name} ${number(value, axis.quantity)}`;
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
  const data = row.marks.map((mark, index) => ({
    value: [place(axis, mark.value), at],
    symbol: SHAPES[index % SHAPES.length],
    label: { ...placed(ranked.indexOf(index), row.marks.length, index, narrow), formatter: labelOf(axis, mark) },
    told: [`${run.label} · ${row.name}`, labelOf(axis, mark)].map(escaped).join("<br>"),
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
