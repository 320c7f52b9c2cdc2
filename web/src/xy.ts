/** Lines over two axes: sweep curves, latency against throughput, block sizes, percentiles. */

import { axisOption, exact, place } from "./axes";
import { type Canvas, type Option, runStyle } from "./draw";
import { asides } from "./asides";
import { type Along, apart, type EndName, labelled, MAX_NAMED, NAMED, type Side, spreadOut } from "./labels";
import type { Axis, Dot, Line, Rule, RunStyle, XyView } from "./spec";
import { textWidth } from "./fonts";
import { range } from "./numbers";
import { base, colourOf, escaped, marker, named, plate, stroke, tinted } from "./theme";

interface Datum extends Option {
  value: [number, number];
  point: Dot;
  line: Line;
}

/** A line, the look that it has among the lines of its view, and whether colours tell these apart. */
type Looked = Line & { look: RunStyle; coloured: boolean };

/** With a single run, colour and marker tell lines of one direction apart; with several, the colour is the run's. */
export function looked(view: XyView, canvas: Pick<Canvas, "runs" | "theme" | "width">): Looked[] {
  const alone = new Set(view.lines.map(({ run }) => run)).size === 1;
  const names = new Map<boolean, string[]>();
  for (const { name, dashed, plain, faint } of view.lines) {
    if (plain || faint) continue;
    const found = names.get(dashed) ?? [];
    if (!found.includes(name)) names.set(dashed, [...found, name]);
  }
  const coloured = byRun(view, canvas) || alone && [...names.values()].some((among) => among.length > 1);
  return view.lines.map((line) => {
    const run = runStyle(canvas, line.run);
    const among = names.get(line.dashed) ?? [];
    const tint = alone && among.length > 1 && !line.plain ? Math.max(0, among.indexOf(line.name)) : 0;
    return { ...line, look: tinted(run, tint, canvas.runs, canvas.theme.palette.length), coloured };
  });
}

const CROSS = "path://M-1,-1L1,1M1,-1L-1,1";

/** Values that the axes of a view must include. */
export function ranges(view: XyView): { xs: number[]; ys: number[] } {
  const points = view.lines.flatMap((line) => line.points);
  const reached = points.flatMap(({ y, low, high }) => [y, low ?? y, high ?? y]).concat(view.rules.map((rule) => rule.y));
  return { xs: view.x.range ?? points.map(({ x }) => x), ys: view.y.range ?? reached };
}

/** Whether lines end with the names of their runs: each run has one line, without a name of its own. */
function byRun({ lines }: XyView, { width }: Pick<Canvas, "width">): boolean {
  const runs = new Set(lines.map(({ run }) => run)).size;
  return width >= NAMED && runs > 1 && runs <= MAX_NAMED && runs === lines.length && lines.every(({ name }) => name === "");
}

/**
 * What stands at the end of each line. Of several runs whose lines dashes tell apart (reads and writes), each word stands once, at the
 * line that ends highest: five drives would have it ten times, one on the other.
 */
export function endNames(view: XyView, canvas: Pick<Canvas, "runs" | "width">): Map<Dot[], string> {
  if (byRun(view, canvas)) return new Map(view.lines.map(({ run, points }) => [points, runStyle(canvas, run).short]));
  const several = new Set(view.lines.map(({ run }) => run)).size > 1;
  const names = (dashed: boolean) => new Set(view.lines.filter((line) => line.dashed === dashed).map(({ name }) => name)).size;
  const once = several && names(true) < 2 && names(false) < 2;
  const last = ({ points }: Line) => points[points.length - 1]?.y ?? -Infinity;
  const highest = (line: Line) => view.lines.filter(({ name }) => name === line.name).reduce((one, other) => (last(other) > last(one) ? other : one));
  return new Map(view.lines.map((line) => [line.points, once && highest(line) !== line ? "" : line.name]));
}

export function tooltip(view: XyView, canvas: Canvas): Option {
  return { ...(base(canvas.theme)["tooltip"] as Option), formatter: (hit: { data: Datum }) => told(view, hit.data, canvas) };
}

/**
 * Bands, curves and rings of the lines of a view, with labels at `sides`; `moved`: by how many pixels the names at their ends are,
 * `aside`: and the markers of points that lie on others.
 */
export function drawn(view: XyView, canvas: Canvas, sides: Map<Dot, Side>, names = endNames(view, canvas), moved = new Map<Dot[], number>(), aside = new Map<Dot, number>()): Option[] {
  const series = looked(view, canvas).flatMap((line) => [band(view, line, canvas), curve(view, line, canvas, sides, names.get(line.points) ?? "", moved.get(line.points) ?? 0, aside), ring(view, line, canvas, sides)]);
  return series.filter((one) => one !== undefined);
}

export function xy(view: XyView, canvas: Canvas): Option {
  const { theme, width, height } = canvas;
  const { xs, ys } = ranges(view);
  const xAxis = axisOption(view.x, { theme, side: "x", values: xs, length: width });
  const yAxis = axisOption(view.y, { theme, side: "y", values: ys, length: height });
  const { names, right, moved, ends } = endings(view, xAxis, yAxis, canvas);
  const aside = asides(view, xAxis, yAxis, { width: width - right - 60, height: height - ABOVE - BELOW });
  const { sides, levels } = labelled(view, xAxis, yAxis, right, canvas, aside, ends);
  const rules = view.rules.map((rule) => level(view, rule, levels.get(rule), canvas));
  return {
    ...base(theme),
    tooltip: tooltip(view, canvas),
    grid: { left: 8, right, top: 34, bottom: 40, outerBoundsMode: "same", outerBoundsContain: "axisLabel" },
    xAxis,
    yAxis,
    series: [...drawn(view, canvas, sides, names, moved, aside), ...rules, upright(view, canvas)],
  };
}

interface Named {
  names: Map<Dot[], string>;
  right: number;
  moved: Map<Dot[], number>;
  ends: Map<Dot[], EndName>;
}

/** What stands at the ends of lines, by how much it is moved, and the room right of the plot; names of runs only where no line runs through them. */
function endings(view: XyView, xAxis: Option, yAxis: Option, canvas: Canvas, names = endNames(view, canvas)): Named {
  const own = view.lines.some(({ name }) => name !== "");
  const widest = Math.max(0, ...[...names.values()].map((name) => (name === "" ? 0 : textWidth(name, 12, canvas.theme.font) + MARKED)));
  const right = own ? 66 : Math.max(22, widest);
  const moved = spread(view, yAxis, names, canvas.height);
  const ends = new Map(view.lines.map(({ points, plain }) => [points, { text: names.get(points) ?? "", moved: ended(moved.get(points) ?? 0, plain) }]));
  const found = { names, right, moved, ends };
  return own || widest === 0 || apart(view, xAxis, yAxis, right, canvas, ends) ? found : endings(view, xAxis, yAxis, canvas, new Map());
}

function data(view: XyView, line: Looked, canvas: Canvas, sides: Map<Dot, Side>, aside = new Map<Dot, number>()): Datum[] {
  const colour = colourOf(line.look, canvas.theme);
  const hollow = { itemStyle: { color: canvas.theme.paper, borderColor: colour, borderWidth: 1.5 } };
  const crossed = { symbol: CROSS, symbolSize: 9, itemStyle: { color: "transparent", borderColor: colour, borderWidth: 2 } };
  return line.points.map((point) => ({
    value: [place(view.x, point.x), place(view.y, point.y)],
    point,
    line,
    label: { show: sides.has(point), position: sides.get(point) ?? "top" },
    ...(aside.has(point) ? { symbolOffset: [aside.get(point), 0] } : {}),
    ...(point.unproven ? hollow : {}),
    ...(point.host || point.failed ? crossed : {}),
    ...(point.quiet ? { symbol: "none" } : {}),
  }));
}

const [ABOVE, BELOW] = [34, 40];
/** Pixels beside a name at the end of a line: the dot in the line's colour, and what is between. */
const MARKED = 30;

/** How far the names at the ends of lines must move, in pixels, so that none covers another; if one of two lines is faint, neither moves. */
function spread(view: XyView, yAxis: Option, names: Map<Dot[], string>, height: number): Map<Dot[], number> {
  const [min, max] = [Number(yAxis["min"] ?? 0), Number(yAxis["max"] ?? Number.NaN)];
  const ends = view.lines.flatMap((line) => {
    const last = line.points[line.points.length - 1];
    return (names.get(line.points) ?? "") === "" || last === undefined ? [] : [{ line, at: (1 - (place(view.y, last.y) - min) / (max - min)) * (height - ABOVE - BELOW) }];
  });
  const alternate = ends.length < 3 && view.lines.some(({ faint }) => faint);
  if (ends.length < 2 || alternate || ends.some(({ at }) => !Number.isFinite(at))) return new Map();
  const placed = spreadOut(
    ends.map(({ at }) => at),
    height - ABOVE - BELOW,
  );
  return new Map(ends.map(({ line, at }, index) => [line.points, (placed[index] ?? at) - at]));
}

/** How far down the name at the end of a line stands: away from the line that it is compared with, as the two often end in one place. */
function ended(moved: number, plain: boolean | undefined): number {
  return moved === 0 && plain ? -8 : moved;
}

function curve(view: XyView, line: Looked, canvas: Canvas, sides: Map<Dot, Side>, name: string, moved: number, aside: Map<Dot, number>): Option {
  const run = line.look;
  const { text } = canvas.theme;
  const thin = line.unproven || (line.points.length > 0 && line.points.every(({ unproven }) => unproven));
  const stroked = { ...stroke(line, run, canvas.theme), opacity: line.faint ? 0.5 : 1, ...(thin ? { width: 1 } : {}) };
  // Lines that end in one place have their names beside each other: which is whose, their colour says.
  const mark = line.coloured && name !== "" ? { formatter: `{mark|●}${name}`, rich: { mark: { color: line.plain ? text : colourOf(run, canvas.theme), fontSize: 9, padding: [0, 4, 0, 0] } } } : {};
  return {
    type: "line",
    data: data(view, line, canvas, sides, aside),
    ...marker(run, canvas.theme),
    symbolSize: 7,
    showAllSymbol: true,
    lineStyle: line.plain ? { ...stroked, color: text } : stroked,
    endLabel: { ...named(name, canvas.theme), ...mark, ...(line.coloured ? plate(canvas.theme) : {}), verticalAlign: line.faint ? "top" : "bottom", offset: [0, ended(moved, line.plain)] },
    emphasis: { disabled: true },
    label: {
      distance: 7,
      color: text,
      ...plate(canvas.theme),
      fontSize: 11,
      formatter: ({ data: { point } }: { data: Datum }) => (point.chosen ? "" : (point.label ?? "")),
    },
    // Those of points have their places; names at the ends of lines may move.
    ...(line.points.some((point) => sides.has(point) && !point.chosen) ? {} : { labelLayout: { hideOverlap: true, moveOverlap: "shiftY" } }),
    z: 3,
  };
}

/** The ring around the point that the method reports, with its label. */
function ring(view: XyView, line: Looked, canvas: Canvas, sides: Map<Dot, Side>): Option | undefined {
  const chosen = data(view, line, canvas, sides).filter(({ point }) => point.chosen);
  if (chosen.length === 0) return undefined;
  const colour = colourOf(line.look, canvas.theme);
  return {
    type: "scatter",
    data: chosen.map(({ value, point, label }) => ({ value, point, line, label })),
    symbol: "circle",
    symbolSize: 18,
    itemStyle: { color: "transparent", borderColor: colour, borderWidth: 2, opacity: 1 },
    emphasis: { disabled: true },
    label: {
      distance: 6,
      color: canvas.theme.text,
      ...plate(canvas.theme),
      fontSize: 12,
      fontWeight: "bold",
      formatter: ({ data: { point } }: { data: Datum }) => point.label ?? "",
    },
    z: 5,
  };
}

/** Slowest to fastest interval of each point, as a band behind the curve. */
function band(view: XyView, line: Looked, canvas: Canvas): Option | undefined {
  const known = line.points.filter(({ low, high }) => low !== undefined && high !== undefined);
  if (known.length < 2) return undefined;
  const colour = colourOf(line.look, canvas.theme);
  const upper = known.map(({ x, high }) => [place(view.x, x), place(view.y, high ?? 0)]);
  const lower = known.map(({ x, low }) => [place(view.x, x), place(view.y, low ?? 0)]).reverse();
  return {
    type: "custom",
    data: [[...(upper[0] ?? []), ...(lower[0] ?? [])]],
    silent: true,
    clip: true,
    z: 1,
    renderItem: (_: unknown, api: { coord(at: number[]): number[] }) => ({
      type: "polygon",
      shape: { points: [...upper, ...lower].map((at) => api.coord(at)) },
      style: { fill: colour, opacity: 0.14 },
    }),
  };
}

function level(view: XyView, rule: Rule, along: Along | undefined, canvas: Canvas): Option {
  const colour = colourOf(runStyle(canvas, rule.run), canvas.theme);
  return {
    type: "line",
    data: [],
    silent: true,
    markLine: {
      silent: true,
      symbol: "none",
      z: 2,
      data: [{ yAxis: place(view.y, rule.y) }],
      lineStyle: { color: colour, width: 1, type: [2, 2] },
      label: { show: rule.text !== "", ...along, formatter: rule.text, color: canvas.theme.muted, fontSize: 12 },
    },
  };
}

/** Vertical lines through the plot, with their labels above it. */
function upright(view: XyView, { theme }: Canvas): Option {
  const data = view.uprights.map(({ x, text }) => ({ name: text, xAxis: place(view.x, x) }));
  const label = { position: "end", formatter: "{b}", color: theme.muted, fontSize: 11 };
  return { type: "line", data: [], silent: true, markLine: { silent: true, symbol: "none", data, lineStyle: { color: theme.muted, width: 1, type: "solid" }, label } };
}

function told(view: XyView, { point, line }: Datum, canvas: Canvas): string {
  const titled = (axis: Axis) => axis.title.replace(/, log$/, "");
  const rows = [
    [titled(view.x), exact(view.x, point.x)],
    [titled(view.y), exact(view.y, point.y)],
  ];
  if (point.low !== undefined && point.high !== undefined) {
    rows.push(["intervals", range(exact(view.y, point.low), exact(view.y, point.high))]);
  }
  const head = [runStyle(canvas, line.run).label, line.name].filter((text) => text !== "").join(" · ");
  const body = rows.map(([name, value]) => `${escaped(name ?? "")}: <b>${escaped(value ?? "")}</b>`);
  return [escaped(head), ...body].join("<br>");
}
