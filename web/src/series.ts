/** One row per interval: IOPS or latency over time. Intervals without any I/O are rows too and are marked as such. */

import { axisOption, extent, logRange, place } from "./axes";
import { apart, inSight, type Places } from "./cloud";
import { after, type Columns, tracksOf } from "./columns";
import { type Canvas, type Option, runStyle } from "./draw";
import { broken, textWidth } from "./fonts";
import { MAX_NAMED, NAMED, spreadOut } from "./labels";
import { type Cell, cells, cellsHeight } from "./multiples";
import { number, tick } from "./numbers";
import type { Axis, Choice, SeriesChart, Spell, Track } from "./spec";
import { base, colourOf, escaped, named, plate, stroke, tinted } from "./theme";

/** Number of rows from which dots are drawn instead of a line. */
const MANY = 300;
const LONG_S = 7200;

interface Hit {
  seriesName: string;
  value: [number, number, number];
}

/** A track with the column that is shown, in seconds and in the unit of the axis. */
interface Shown {
  track: Track;
  colour: string;
  times_s: Float64Array;
  values: Float64Array;
  /** The values that the axis must include for it. */
  ends: number[];
  /** Of a long run, the rows in the middle of its parts with the medians of these. */
  middles: [number, number][];
}

/** The looks of tracks: if a run has several in one direction, the first has the run's colour and the second the text's. */
function coloured(tracks: Track[], canvas: Canvas): string[] {
  return tracks.map(({ run, dashed }, at) => {
    const before = tracks.slice(0, at).filter((other) => other.run === run && other.dashed === dashed).length;
    return before === 1 ? canvas.theme.text : colourOf(tinted(runStyle(canvas, run), before, canvas.runs, canvas.theme.palette.length), canvas.theme);
  });
}

/** `seen`: the part of the time axis that a zoom shows, in its own unit; without it, all. */
export function series(chart: SeriesChart, columns: Columns, choice: number, measure: number, canvas: Canvas, seen?: [number, number]): Option {
  const wanted = chart.measures[measure] ?? chart.measures[0];
  const chosen = chart.choices[choice];
  if (wanted === undefined || chosen === undefined) return base(canvas.theme);
  const tracks = tracksOf(chart, choice);
  const colours = coloured(tracks, canvas);
  const shown = tracks.map((track, at) => {
    const values = columns.of(track, wanted.key);
    return { track, colour: colours[at] ?? "", times_s: columns.of(track, "end_s"), values, ends: columns.ends(track, wanted.key), middles: values.length > MANY ? columns.medians(track, wanted.key) : [] };
  });
  const window_s = chart.window_s ?? [0, Math.max(1e-3, ...shown.map(({ times_s }) => times_s.at(-1) ?? 0))];
  return option({ ...wanted.axis, title: chosen.absent || wanted.axis.title }, shown, { window_s, seen }, !wanted.pauses, chosen, canvas);
}

/** The length of the time axis, and the part of it in view. */
interface Times {
  window_s: [number, number];
  seen: [number, number] | undefined;
}

/** Sizes of a small plot in a wide page, and in a narrow one. */
const [SMALL, SMALLEST] = [
  { width: 330, height: 150 },
  { width: 165, height: 100 },
];
export const NARROW = 560;

function small(width: number): typeof SMALL {
  return width < NARROW ? SMALLEST : SMALL;
}

/** Height of a choice whose runs have plots side by side, in pixels; none for other choices. */
export function besideHeight(chart: SeriesChart, choice: number, width: number): number {
  const runs = new Set(tracksOf(chart, choice).map(({ run }) => run)).size;
  return chart.choices[choice]?.beside && runs > 1 ? cellsHeight(runs, width, small(width)) : 0;
}

/** `marked`: intervals of zero are stalls. Where they are pauses, lines end on the axis, which leaves no room for names. */
function option(axis: Axis, shown: Shown[], { window_s, seen: part }: Times, marked: boolean, { beside, spells = [] }: Choice, canvas: Canvas): Option {
  const { theme } = canvas;
  const values: number[] = axis.range ?? shown.flatMap(({ ends }) => ends);
  const unit_s = timeUnit(window_s[1]);
  const runs = [...new Set(shown.map(({ track }) => track.run))];
  const apart = beside === true && runs.length > 1;
  const seen: Seen = { tracks: shown.length, x: part ?? [window_s[0] / unit_s, window_s[1] / unit_s], y: extent(values.flatMap((value) => (axis.scale === "log" && value === 0 ? [] : [place(axis, value)]))) };
  const common = base(theme);
  const yAxis = axisOption(axis, { theme, side: "y", values, length: canvas.height });
  const names = marked ? endNames(shown, apart, canvas) : shown.map(() => "");
  const right = apart ? 0 : Math.max(22, ...names.map((name) => (name === "" ? 0 : textWidth(name, 12, theme.font) + END)));
  const moved = apart ? shown.map(() => 0) : spreadNames(axis, shown, names, yAxis, canvas);
  const plots = apart ? smallPlots(axis, runs, window_s, values, canvas) : { grid: { left: 8, right, top: ABOVE, bottom: 40, outerBoundsMode: "same", outerBoundsContain: "axisLabel" }, xAxis: timeAxis(window_s, canvas), yAxis };
  const all = runs.map((_, at) => at);
  return {
    ...common,
    tooltip: { ...(common["tooltip"] as Option), formatter: ({ seriesName, value: [time, , value] }: Hit) => told(axis, seriesName, time * unit_s, value) },
    ...plots,
    dataZoom: [{ type: "inside", ...(apart ? { xAxisIndex: all } : {}), zoomOnMouseWheel: "ctrl", moveOnMouseWheel: false, moveOnMouseMove: false, filterMode: "none" }],
    toolbox: { show: true, itemSize: 0, top: -40, feature: { dataZoom: { ...(apart ? { xAxisIndex: all } : {}), yAxisIndex: "none", filterMode: "none" } } },
    series: shown.flatMap((one, at) => {
      const several = shown.filter(({ track }) => !apart || track.run === one.track.run).length > 1;
      const index = apart ? runs.indexOf(one.track.run) : 0;
      const end = ended(names[at] ?? "", moved[at] ?? 0, one, { inside: apart, marked: several }, canvas);
      const drawn: Option[] = [
        { ...trace(axis, one, seen, unit_s, several, canvas), ...(apart && one.values.length <= MANY ? { symbolSize: 2 } : {}), ...(one.middles.length > 0 ? {} : end), id: `${DOTS}${at}`, ...(at === 0 ? shading(spells, unit_s, canvas, true) : {}) },
        ...medians(axis, one, unit_s, several, end, canvas),
        ...(marked ? [stalls(axis, one, values, unit_s, several, canvas)] : []),
      ];
      return drawn.map((each) => ({ ...each, xAxisIndex: index, yAxisIndex: index }));
    }),
  };
}

/** Pixels between the end of a line and its name, with the dot before it; those over and under a plot. */
const END = 30;
const [ABOVE, BELOW] = [34, 62];

/** The label at the end of each line: its run, or its name if runs have several lines; each label appears once, as the lines of five drives may end in one place. */
function endNames(shown: Shown[], apart: boolean, canvas: Canvas): string[] {
  const runs = new Set(shown.map(({ track }) => track.run)).size;
  const names = shown.map(({ track }) => track.name);
  if (new Set(names).size > 1) return names.map((name, at) => (names.indexOf(name) === at ? name : ""));
  return shown.map(({ track }) => (apart || runs < 2 || runs > MAX_NAMED || canvas.width < NAMED ? "" : runStyle(canvas, track.run).short));
}

/** How far the names at the ends of lines must move, in pixels, so that none covers another. */
function spreadNames(axis: Axis, shown: Shown[], names: string[], yAxis: Option, { height }: Canvas): number[] {
  const [min, max] = [Number(yAxis["min"] ?? 0), Number(yAxis["max"] ?? Number.NaN)];
  const room = height - ABOVE - BELOW;
  const named = [...shown.keys()].filter((at) => names[at] !== "");
  const ends = named.map((at) => {
    const { middles, values } = shown[at] as Shown;
    const last = middles.at(-1)?.[1] ?? values.at(-1) ?? 0;
    return (1 - (place(axis, axis.scale === "log" && last === 0 ? 10 ** min : last) - min) / (max - min)) * room;
  });
  if (ends.length < 2 || ends.some((at) => !Number.isFinite(at))) return shown.map(() => 0);
  const placed = spreadOut(ends, room);
  return shown.map((_, at) => (placed[named.indexOf(at)] ?? 0) - (ends[named.indexOf(at)] ?? 0));
}

/** The name at the end of a line: after the end, or in a small plot before it. */
function ended(name: string, moved: number, { colour }: Shown, { inside, marked }: { inside: boolean; marked: boolean }, { theme }: Canvas): Option {
  const mark = marked && name !== "" ? { formatter: `{mark|●}${name}`, rich: { mark: { color: colour, fontSize: 9, padding: [0, 4, 0, 0] } } } : {};
  const where = inside ? { align: "right", offset: [-8, -9], ...plate(theme) } : { offset: [0, moved] };
  return { endLabel: { ...named(name, theme), ...mark, ...where } };
}

/** Grids and axes of small plots, a run in each, on common axes. */
function smallPlots(axis: Axis, runs: number[], window_s: [number, number], values: number[], canvas: Canvas): Option {
  const places = cells(runs.length, canvas, small(canvas.width));
  const wide = canvas.width >= NARROW;
  const titles = ({ at }: Cell) => [runStyle(canvas, runs[at] ?? 0).short, ...(at === 0 && wide ? [axis.title] : [])].join(": ");
  return {
    grid: places.map(({ left, top, width, height }) => ({ left, top, width, height, outerBoundsMode: "none" })),
    xAxis: places.map(({ at, width, lowest }) => {
      const time = timeAxis(window_s, { ...canvas, width });
      const name = width < 280 ? String(time["name"]).split(" since")[0] : time["name"];
      return { ...time, gridIndex: at, ...(lowest ? { name } : { axisLabel: { show: false }, name: "" }) };
    }),
    yAxis: places.map((cell) => {
      const nameTextStyle = { color: canvas.theme.text, fontSize: 12, lineHeight: 13, align: "left" };
      const own = axisOption(axis, { theme: canvas.theme, side: "y", values, length: cell.height });
      return { ...own, gridIndex: cell.at, name: broken(titles(cell), cell.width + 12, 12, canvas.theme.font).join("\n"), nameTextStyle, ...(cell.first ? {} : { axisLabel: { show: false } }) };
    }),
  };
}

/** Events of the drive, drawn as part of a line: periods are shaded and moments are lines, with or without their labels. */
export function shading(spells: Spell[], unit_s: number, canvas: Canvas, worded: boolean): Option {
  const { theme } = canvas;
  const label = { show: worded, color: theme.muted, fontSize: 11, position: "insideTop", width: 160, overflow: "truncate" };
  // Thirty stretches of heat would have their words one on the other: the first of a kind has them, the table all.
  const few = spells.length <= MOST_WORDED;
  const own = (at: number) => (few || spells.findIndex(({ text, until_s }) => kind(text) === kind(spells[at]?.text) && (until_s === undefined) === (spells[at]?.until_s === undefined)) === at ? {} : { label: { show: false } });
  const stretches = spells.flatMap(({ from_s, until_s, text }, at) => (until_s === undefined ? [] : [[{ name: text, xAxis: from_s / unit_s, ...own(at) }, { xAxis: until_s / unit_s }]]));
  const moments = spells.flatMap(({ from_s, until_s, text }, at) => (until_s === undefined ? [{ name: text, xAxis: from_s / unit_s, ...own(at) }] : []));
  return {
    ...(stretches.length > 0 ? { markArea: { silent: true, data: stretches, itemStyle: { color: theme.text, opacity: 0.12 }, label } } : {}),
    ...(moments.length > 0
      ? { markLine: { silent: true, symbol: "none", data: moments, lineStyle: { color: theme.text, width: 1.5, type: "solid" }, label: { ...label, position: "end", formatter: "{b}" } } }
      : {}),
  };
}

/** Maximum number of marks on a time line whose labels fit side by side. */
const MOST_WORDED = 3;

/** The kind of a mark: its label without the numbers. */
function kind(text = ""): string {
  return text.replace(/[\d.,]+/g, "#");
}

/** Long runs are drawn over hours, so that round steps of the axis are round times at any zoom. */
export function timeUnit(end_s: number): number {
  return end_s > LONG_S ? 3600 : 1;
}

export function timeAxis([begin_s, end_s]: [number, number], canvas: Canvas): Option {
  const long = timeUnit(end_s) > 1;
  const title = `${long ? "h:min" : "seconds"} since the start of the measurement`;
  const axis = axisOption({ title, quantity: "s", scale: "linear" }, { theme: canvas.theme, side: "x", values: [], length: canvas.width });
  const [min, max] = [begin_s, end_s].map((time_s) => time_s / timeUnit(end_s));
  // The end of a run is hardly ever a round time: its label would stand on the one before.
  const whole = (value: number) => value !== max || Number(value.toPrecision(2)) === value;
  const text = long ? clock : (value: number) => tick(value, "s");
  const formatter = (value: number) => (whole(value) ? text(value) : "");
  return { ...axis, axisLabel: { ...(axis["axisLabel"] as Option), formatter }, min, max };
}

/** Hours as h:min, with seconds where there are any. */
export function clock(hours: number): string {
  const whole = Math.round(hours * 3600);
  const [minutes, seconds] = [Math.floor(whole / 60) % 60, whole % 60].map((value) => String(value).padStart(2, "0"));
  return `${Math.floor(whole / 3600)}:${minutes}${seconds === "00" ? "" : `:${seconds}`}`;
}

/**
 * The median of each 240th part of a long run, behind its cloud of dots, so that it covers none; no smoothing, so that nothing is invented.
 * Where clouds lie on one another medians tell them apart: over the dots, in the colours of their runs.
 */
function medians(axis: Axis, { colour, times_s, middles }: Shown, unit_s: number, several: boolean, end: Option, canvas: Canvas): Option[] {
  if (middles.length === 0) return [];
  const data = middles.map(([row, middle]) => [(times_s[row] ?? 0) / unit_s, axis.scale === "log" && middle === 0 ? NaN : place(axis, middle)]);
  const line = { type: "line", silent: true, showSymbol: false, data };
  if (!several) return [{ ...line, ...end, lineStyle: { color: canvas.theme.text, width: 4, opacity: 0.45 }, z: 1 }];
  return [
    { ...line, lineStyle: { color: canvas.theme.paper, width: 5 }, z: 3 },
    { ...line, ...end, lineStyle: { color: colour, width: 2.5 }, z: 3 },
  ];
}

/** Prefix of the ids of series that are drawn again on zoom. */
export const DOTS = "dots-";

/** The part of the axes in view, in their own units. */
interface Seen {
  x: [number, number];
  y: [number, number];
  /** Of how many tracks. */
  tracks: number;
}

function trace(axis: Axis, { track, colour, times_s, values }: Shown, seen: Seen, unit_s: number, several: boolean, canvas: Canvas): Option {
  const run = runStyle(canvas, track.run);
  const many = values.length > MANY;
  // A stall has no place on a logarithmic axis; `stalls` marks it on the lower edge.
  const ys = values.map((value) => (axis.scale === "log" && value === 0 ? NaN : place(axis, value)));
  const places = { xs: times_s.map((time_s) => time_s / unit_s), ys };
  const size = values.length > CLOUD ? 2 : 3;
  return {
    type: many ? "scatter" : "line",
    name: titled(track, canvas),
    ...(many ? { dimensions: DIMENSIONS, data: flat(places, values, kept(axis, places, seen, size, canvas)) } : { data: Array.from(values, (value, row) => [places.xs[row], ys[row], value]) }),
    symbol: run.shape,
    symbolSize: many ? size : 5,
    itemStyle: { color: colour, opacity: values.length > CLOUD ? 0.35 : several && many ? 0.5 : 1 },
    lineStyle: { ...stroke(track, run, canvas.theme), color: colour },
    emphasis: { disabled: true },
    large: many,
    // All dots in one frame: they are thinned already.
    progressive: 0,
    // In a picture all dots are one path, which is a tenth as long.
    ...(canvas.filled ? { largeThreshold: 0 } : {}),
    z: 2,
  };
}

/** From so many rows on dots are small and let one another shine through. */
const CLOUD = 20_000;

/** Rows that are drawn: in a picture few, in the page those in sight of which no two would cover one another wholly. */
function kept(axis: Axis, places: Places, { x, y, tracks }: Seen, size: number, canvas: Canvas): Int32Array {
  if (canvas.filled) return apart(places, axis.scale === "linear", canvas);
  // One row more on either side, which a dot on the edge may reach in from.
  const [from, until] = [Math.max(0, after(places.xs, x[0]) - 1), Math.min(places.xs.length, after(places.xs, x[1]) + 1)];
  return inSight(places, size, tracks, { ends: x, pixels: canvas.width }, { ends: y, pixels: canvas.height }, [from, until]);
}

/** Position of a dot, and the value shown for it. */
const DIMENSIONS = ["x", "y", "value"];

/** The dots one after another in one array, as ECharts takes them with their `dimensions`: no object for each. */
function flat({ xs, ys }: Places, values: Float64Array, rows: Int32Array): Float64Array {
  const dots = new Float64Array(rows.length * DIMENSIONS.length);
  rows.forEach((row, index) => {
    const at = index * DIMENSIONS.length;
    dots[at] = xs[row] ?? NaN;
    dots[at + 1] = ys[row] ?? NaN;
    dots[at + 2] = values[row] ?? NaN;
  });
  return dots;
}

/** Intervals without I/O as marks on the lower edge, so that a stall is seen on a logarithmic axis as well. */
function stalls(axis: Axis, { track, colour, times_s, values }: Shown, all: number[], unit_s: number, several: boolean, canvas: Canvas): Option {
  const floor = axis.scale === "log" ? Math.log10(logRange(all)[0]) : 0;
  const data: number[][] = [];
  values.forEach((value, row) => {
    if (value === 0) data.push([(times_s[row] ?? 0) / unit_s, floor, 0]);
  });
  return {
    type: "scatter",
    name: titled(track, canvas),
    data,
    symbol: "triangle",
    symbolSize: 9,
    itemStyle: { color: several ? colour : canvas.theme.text },
    emphasis: { disabled: true },
    z: 4,
  };
}

function titled(track: Track, canvas: Canvas): string {
  return [runStyle(canvas, track.run).label, track.name].filter((text) => text !== "").join(" · ");
}

function told(axis: Axis, name: string, seconds: number, value: number): string {
  const amount = value === 0 ? "no I/O completed" : number(value, axis.quantity);
  return `${escaped(name)}<br>up to ${seconds > LONG_S ? clock(seconds / 3600) : number(seconds, "s")}: <b>${escaped(amount)}</b>`;
}
