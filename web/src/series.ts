/** One row per interval: IOPS or latency over time. Intervals without any I/O are rows too and are marked as such. */

import { axisOption, extent, logRange, place } from "./axes";
import { type Canvas, type Option, runStyle } from "./draw";
import { number, tick } from "./numbers";
import type { Axis, SeriesChart, Spell, Track } from "./spec";
import { base, colourOf, escaped, named, stroke } from "./theme";
import { unpack } from "./unpack";

/** From so many rows on, dots instead of a line through them. */
const MANY = 300;
const LONG_S = 7200;

interface Hit {
  seriesName: string;
  value: [number, number, number];
}

/** A track with the column that is shown, in seconds and in the unit of the axis. */
interface Shown {
  track: Track;
  times_s: number[];
  values: number[];
}

/** Unpacked columns by their packed text: unpacking is asynchronous, drawing (before a print, above all) is not. */
export class Columns {
  private readonly unpacked = new Map<string, number[]>();

  /** Unpacks what a choice and a measure need. */
  async load(chart: SeriesChart, choice: number, measure: number): Promise<void> {
    await this.loadTracks(chart.choices[choice]?.tracks ?? [], ["end_s", chart.measures[measure]?.key ?? ""]);
  }

  /** Unpacks some columns of tracks. */
  async loadTracks(tracks: Track[], keys: string[]): Promise<void> {
    for (const track of tracks) {
      for (const { key, packed, unit } of track.columns) {
        if (!keys.includes(key) || this.unpacked.has(packed)) continue;
        this.unpacked.set(packed, Array.from(await unpack(packed), (value) => value * unit));
      }
    }
  }

  /** Keeps a column that was unpacked elsewhere. */
  put(packed: string, values: number[]): void {
    this.unpacked.set(packed, values);
  }

  /** A loaded column; empty where it was not loaded or is not there. */
  of(track: Track, key: string): number[] {
    const packed = track.columns.find((column) => column.key === key)?.packed ?? "";
    return this.unpacked.get(packed) ?? [];
  }
}

export function series(chart: SeriesChart, columns: Columns, choice: number, measure: number, canvas: Canvas): Option {
  const wanted = chart.measures[measure] ?? chart.measures[0];
  if (wanted === undefined) return base(canvas.theme);
  const { tracks = [], absent = "", spells = [] } = chart.choices[choice] ?? {};
  const shown = tracks.map((track) => ({ track, times_s: columns.of(track, "end_s"), values: columns.of(track, wanted.key) }));
  const window_s = chart.window_s ?? [0, Math.max(1e-3, ...shown.map(({ times_s }) => times_s.at(-1) ?? 0))];
  return option({ ...wanted.axis, title: absent || wanted.axis.title }, shown, window_s, !wanted.pauses, spells, canvas);
}

/** `marked`: intervals of zero are stalls. Where they are pauses, lines end on the axis, which leaves no room for names. */
function option(axis: Axis, shown: Shown[], window_s: [number, number], marked: boolean, spells: Spell[], canvas: Canvas): Option {
  const { theme, height } = canvas;
  const values: number[] = axis.range ?? shown.flatMap(({ values: inside }) => inside);
  const unit_s = timeUnit(window_s[1]);
  const common = base(theme);
  // Reads of five drives end at one place: one word says what they are.
  const firstOfName = (at: number) => shown.findIndex(({ track }) => track.name === shown[at]?.track.name) === at;
  return {
    ...common,
    tooltip: { ...(common["tooltip"] as Option), formatter: ({ seriesName, value: [time, , value] }: Hit) => told(axis, seriesName, time * unit_s, value) },
    grid: { left: 8, right: marked && shown.some(({ track }) => track.name !== "") ? 66 : 22, top: 34, bottom: 40, outerBoundsMode: "same", outerBoundsContain: "axisLabel" },
    xAxis: timeAxis(window_s, canvas),
    yAxis: axisOption(axis, { theme, side: "y", values, length: height }),
    dataZoom: [{ type: "inside", zoomOnMouseWheel: "ctrl", moveOnMouseWheel: false, moveOnMouseMove: false, filterMode: "none" }],
    toolbox: { show: true, itemSize: 0, top: -40, feature: { dataZoom: { yAxisIndex: "none", filterMode: "none" } } },
    series: shown.flatMap((one, first) => [{ ...trace(axis, one, unit_s, marked && firstOfName(first), canvas), ...(first === 0 ? shading(spells, unit_s, canvas, true) : {}) }, medians(axis, one, unit_s, canvas), ...(marked ? [stalls(axis, one, values, unit_s, canvas)] : [])]),
  };
}

/** What happened to the drive, as part of a line: stretches are shaded, moments are lines; with their words, or without. */
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

/** So many marks of a time line have their words beside one another. */
const MOST_WORDED = 3;

/** What a mark is of: its words without their numbers. */
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

/** The median of each 240th part of a long run, behind its cloud of dots, so that it covers none; no smoothing, so that nothing is invented. */
function medians(axis: Axis, { times_s, values }: Shown, unit_s: number, canvas: Canvas): Option {
  const size = Math.ceil(values.length / 240);
  const data: [number, number][] = [];
  for (let start = 0; values.length > MANY && start < values.length; start += size) {
    const part = Float64Array.from(values.slice(start, start + size)).sort();
    const middle = part[Math.floor(part.length / 2)] ?? 0;
    const time_s = times_s[Math.min(start + Math.floor(size / 2), times_s.length - 1)] ?? 0;
    data.push([time_s / unit_s, axis.scale === "log" && middle === 0 ? NaN : place(axis, middle)]);
  }
  return { type: "line", silent: true, showSymbol: false, data, lineStyle: { color: canvas.theme.text, width: 4, opacity: 0.45 }, z: 1 };
}

function trace(axis: Axis, { track, times_s, values }: Shown, unit_s: number, ended: boolean, canvas: Canvas): Option {
  const run = runStyle(canvas, track.run);
  const many = values.length > MANY;
  const thinned = canvas.filled && many;
  // A stall has no place on a logarithmic axis; `stalls` marks it on the lower edge.
  const height = (value: number) => (axis.scale === "log" && value === 0 ? NaN : place(axis, value));
  const dots = () => values.map((value, row) => [(times_s[row] ?? 0) / unit_s, height(value), value]);
  return {
    type: many ? "scatter" : "line",
    name: titled(track, canvas),
    // A day has 86,400 dots a track: as one flat array they are no garbage.
    ...(many && !thinned ? { dimensions: DIMENSIONS, data: flat(values, (row) => (times_s[row] ?? 0) / unit_s, height) } : { data: thinned ? apart(dots(), axis.scale === "linear", canvas) : dots() }),
    symbol: run.shape,
    symbolSize: many ? (values.length > 20_000 ? 2 : 3) : 5,
    itemStyle: { color: colourOf(run, canvas.theme), opacity: values.length > 20_000 ? 0.35 : 1 },
    lineStyle: stroke(track, run, canvas.theme),
    endLabel: named(ended ? track.name : "", canvas.theme),
    labelLayout: { moveOverlap: "shiftY" },
    emphasis: { disabled: true },
    large: many,
    // In a picture all dots are one path, which is a tenth as long.
    ...(canvas.filled ? { largeThreshold: 0 } : {}),
    z: 2,
  };
}

/** Of a dot: where it stands, and the value that is told of it. */
const DIMENSIONS = ["x", "y", "value"];

/** The dots one after another in one array, as ECharts takes them with their `dimensions`. */
function flat(values: number[], across: (row: number) => number, height: (value: number) => number): Float64Array {
  const dots = new Float64Array(values.length * DIMENSIONS.length);
  values.forEach((value, row) => {
    const at = row * DIMENSIONS.length;
    dots[at] = across(row);
    dots[at + 1] = height(value);
    dots[at + 2] = value;
  });
  return dots;
}

/** Dots of a picture: each costs some 60 bytes of the page. */
const MOST_DOTS = 6000;

/** Of dots that would fall on one another, one: at most one in each square of two pixels, or of more where that leaves too many. */
export function apart(dots: number[][], fromZero: boolean, { width, height }: { width: number; height: number }): number[][] {
  const [xs, ys] = [extent(dots.map(([x]) => x ?? 0)), extent(dots.flatMap(([, y]) => (y === undefined || Number.isNaN(y) ? [] : [y])))];
  if (fromZero) ys[0] = Math.min(0, ys[0]);
  for (let size = 2; ; size += 1) {
    const left = oneIn(dots, (x, y) => square(x, xs, width / size) * 65536 + square(y, ys, height / size));
    if (left.length <= MOST_DOTS) return left;
  }
}

function square(value: number, [low, high]: [number, number], squares: number): number {
  return Math.floor(((value - low) / (high - low || 1)) * squares);
}

/** The first of the dots with one key. */
function oneIn(dots: number[][], keyOf: (x: number, y: number) => number): number[][] {
  const taken = new Set<number>();
  return dots.filter(([x = 0, y = 0]) => {
    const key = Number.isNaN(y) ? -1 : keyOf(x, y);
    if (taken.has(key)) return false;
    taken.add(key);
    return true;
  });
}

/** Intervals without I/O as marks on the lower edge, so that a stall is seen on a logarithmic axis as well. */
function stalls(axis: Axis, { track, times_s, values }: Shown, all: number[], unit_s: number, canvas: Canvas): Option {
  const floor = axis.scale === "log" ? Math.log10(logRange(all)[0]) : 0;
  const data = values.flatMap((value, row) => (value === 0 ? [[(times_s[row] ?? 0) / unit_s, floor, 0]] : []));
  return {
    type: "scatter",
    name: titled(track, canvas),
    data,
    symbol: "triangle",
    symbolSize: 9,
    itemStyle: { color: canvas.theme.text },
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
