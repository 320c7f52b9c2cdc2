/** One row per interval: IOPS or latency over time. Intervals without any I/O are rows too and are marked as such. */

import { axisOption, logRange, place } from "./axes";
import { type Canvas, type Option, runStyle } from "./draw";
import { number } from "./numbers";
import type { Axis, SeriesChart, Track } from "./spec";
import { base, colourOf, escaped, stroke } from "./theme";
import { unpack } from "./unpack";

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

export async function series(chart: SeriesChart, choice: number, measure: number, canvas: Canvas): Promise<Option> {
  const wanted = chart.measures[measure] ?? chart.measures[0];
  const tracks = chart.choices[choice]?.tracks ?? [];
  if (wanted === undefined) return base(canvas.theme);
  const shown = await Promise.all(tracks.map((track) => column(track, wanted.key)));
  return option(wanted.axis, shown, canvas);
}

/** A column of a track by its key, beside the end of each row in seconds. */
export async function column(track: Track, key: string): Promise<Shown> {
  const [times_s, values] = await Promise.all([unpacked(track, "end_s"), unpacked(track, key)]);
  return { track, times_s, values };
}

async function unpacked(track: Track, key: string): Promise<number[]> {
  const found = track.columns.find((one) => one.key === key);
  return found === undefined ? [] : Array.from(await unpack(found.packed), (value) => value * found.unit);
}

function option(axis: Axis, shown: Shown[], canvas: Canvas): Option {
  const { theme, width, height } = canvas;
  const time: Axis = { title: "seconds since the start of the measurement", quantity: "s", scale: "linear" };
  const values = shown.flatMap(({ values: inside }) => inside);
  const common = base(theme);
  return {
    ...common,
    tooltip: { ...(common["tooltip"] as Option), formatter: ({ seriesName, value: [seconds, , value] }: Hit) => told(axis, seriesName, seconds, value) },
    grid: { left: 8, right: 22, top: 34, bottom: 40, outerBoundsMode: "same", outerBoundsContain: "axisLabel" },
    xAxis: { ...axisOption(time, { theme, side: "x", values: [], length: width }), max: Math.max(...shown.flatMap(({ times_s }) => times_s.at(-1) ?? 1)) },
    yAxis: axisOption(axis, { theme, side: "y", values, length: height }),
    dataZoom: [{ type: "inside", zoomOnMouseWheel: "ctrl", moveOnMouseWheel: false, moveOnMouseMove: false, filterMode: "none" }],
    toolbox: { show: true, itemSize: 0, top: -40, feature: { dataZoom: { yAxisIndex: "none", filterMode: "none" } } },
    series: shown.flatMap((one) => [trace(axis, one, canvas), stalls(axis, one, values, canvas)]),
  };
}

function trace(axis: Axis, { track, times_s, values }: Shown, canvas: Canvas): Option {
  const run = runStyle(canvas, track.run);
  const many = values.length > 300;
  // A stall has no place on a logarithmic axis; `stalls` marks it on the lower edge.
  const data = values.map((value, row) => [times_s[row], axis.scale === "log" && value === 0 ? NaN : place(axis, value), value]);
  return {
    type: many ? "scatter" : "line",
    name: named(track, canvas),
    data,
    symbol: run.shape,
    symbolSize: many ? (values.length > 20_000 ? 2 : 3) : 5,
    itemStyle: { color: colourOf(run, canvas.theme), opacity: values.length > 20_000 ? 0.35 : 1 },
    lineStyle: stroke(track, run, canvas.theme),
    emphasis: { disabled: true },
    large: many,
    z: 2,
  };
}

/** Intervals without I/O as marks on the lower edge, so that a stall is seen on a logarithmic axis as well. */
function stalls(axis: Axis, { track, times_s, values }: Shown, all: number[], canvas: Canvas): Option {
  const floor = axis.scale === "log" ? Math.log10(logRange(all)[0]) : 0;
  const data = values.flatMap((value, row) => (value === 0 ? [[times_s[row], floor, 0]] : []));
  return {
    type: "scatter",
    name: named(track, canvas),
    data,
    symbol: "triangle",
    symbolSize: 9,
    itemStyle: { color: canvas.theme.text },
    emphasis: { disabled: true },
    z: 4,
  };
}

function named(track: Track, canvas: Canvas): string {
  return [runStyle(canvas, track.run).label, track.name].filter((text) => text !== "").join(" · ");
}

function told(axis: Axis, name: string, seconds: number, value: number): string {
  const amount = value === 0 ? "no I/O completed" : number(value, axis.quantity);
  return `${escaped(name)}<br>up to ${number(seconds, "s")}: <b>${escaped(amount)}</b>`;
}
