/** Stacks several figures of one run over one time axis: IOPS, p99, watts, temperature, and events of the drive. */

import { axisOption, place } from "./axes";
import { type Canvas, type Option, runStyle } from "./draw";
import { number } from "./numbers";
import { apart } from "./cloud";
import type { Columns } from "./columns";
import { clock, shading, timeAxis, timeUnit } from "./series";
import type { Measure, TimelineChart, TimelineView, Track } from "./spec";
import { base, colourOf, escaped } from "./theme";

const PANEL_HEIGHT = 120;
const [TOP, GAP, BOTTOM] = [30, 42, 44];
/** Number of points from which a panel is drawn as dots. */
const MANY = 3000;
/** Number of points up to which a line has a dot at each. */
const DOTTED = 600;

interface Hit {
  seriesName: string;
  seriesIndex: number;
  value: [number, number, number, number];
}

export function timelineHeight(chart: TimelineChart): number {
  return TOP + chart.panels.length * (PANEL_HEIGHT + GAP) - GAP + BOTTOM;
}

/** The panels in which a view has data; if it has none, all panels, to show the drive's events. */
function panelsOf({ panels }: TimelineChart, view: TimelineView): Measure[] {
  const drawn = panels.filter((panel) => tracksOf(view, panel).length > 0);
  return drawn.length > 0 ? drawn : panels;
}

/** The keys of the columns that a time line draws. */
export function timelineKeys(chart: TimelineChart): string[] {
  return ["end_s", ...chart.panels.map(({ key }) => key)];
}

export function timeline(chart: TimelineChart, view: TimelineView, columns: Columns, canvas: Canvas): Option {
  const common = base(canvas.theme);
  const end_s = Math.max(1e-3, ...view.tracks.map((track) => columns.of(track, "end_s").at(-1) ?? 0), ...view.spells.map((spell) => spell.until_s ?? spell.from_s));
  const panels = panelsOf(chart, view).map((panel, index) => ({ panel, index, tracks: tracksOf(view, panel) }));
  const all = panels.map(({ index }) => index);
  const high = (canvas.height - TOP - BOTTOM + GAP) / panels.length - GAP;
  const hits = panels.flatMap(({ panel, tracks }) => tracks.map((track) => ({ panel, track })));
  return {
    ...common,
    tooltip: { ...(common["tooltip"] as Option), formatter: (hit: Hit) => told(hits[hit.seriesIndex], hit, timeUnit(end_s)) },
    grid: panels.map(({ index }) => ({ left: 64, right: 22, top: TOP + index * (high + GAP), height: high, outerBoundsMode: "none" })),
    xAxis: panels.map(({ index }) => ({
      ...timeAxis([0, end_s], canvas),
      gridIndex: index,
      ...(index < panels.length - 1 ? { axisLabel: { show: false }, name: "" } : { name: timeUnit(end_s) > 1 ? "h:min since the first step" : "seconds since the first step" }),
    })),
    yAxis: panels.map(({ panel, index, tracks }) => ({
      ...axisOption(panel.axis, { theme: canvas.theme, side: "y", values: tracks.flatMap((track) => columns.ends(track, panel.key)), length: high }),
      gridIndex: index,
    })),
    dataZoom: [{ type: "inside", xAxisIndex: all, zoomOnMouseWheel: "ctrl", moveOnMouseWheel: false, moveOnMouseMove: false, filterMode: "none" }],
    toolbox: { show: true, itemSize: 0, top: -40, feature: { dataZoom: { xAxisIndex: all, yAxisIndex: "none", filterMode: "none" } } },
    series: panels.flatMap(({ panel, index, tracks }) => lines(panel, index, tracks, view, columns, timeUnit(end_s), { ...canvas, height: high })),
  };
}

function tracksOf(view: TimelineView, panel: Measure): Track[] {
  return view.tracks.filter((track) => track.columns.some(({ key }) => key === panel.key));
}

function lines(panel: Measure, index: number, tracks: Track[], view: TimelineView, columns: Columns, unit_s: number, canvas: Canvas): Option[] {
  const points = tracks.reduce((sum, track) => sum + columns.of(track, panel.key).length, 0);
  return tracks.flatMap((track, first) => {
    const run = runStyle(canvas, track.run);
    const times_s = columns.of(track, "end_s");
    const many = points > MANY;
    const all = Array.from(columns.of(track, panel.key), (value, row) => [(times_s[row] ?? 0) / unit_s, place(panel.axis, value), value, row]);
    const data = many ? thinned(all, panel, canvas) : broken(all, track);
    const dotted = points <= DOTTED || alone(track);
    const line = {
      type: many ? "scatter" : "line",
      name: track.name,
      xAxisIndex: index,
      yAxisIndex: index,
      data,
      symbol: "circle",
      symbolSize: 3,
      showSymbol: dotted && !canvas.filled,
      itemStyle: { color: colourOf(run, canvas.theme) },
      lineStyle: { color: colourOf(run, canvas.theme), width: 1.5 },
      emphasis: { disabled: true },
      // In a picture all dots are one path, which is a tenth as long.
      ...(many ? { large: true, ...(canvas.filled ? { largeThreshold: 0 } : {}) } : {}),
      z: 2,
      // Once in each panel; the words stand over the first.
      ...(first === 0 ? shading(view.spells, unit_s, canvas, index === 0) : {}),
    };
    return canvas.filled && dotted && !many ? [line, { ...line, ...dots(thinned(all, panel, canvas), colourOf(run, canvas.theme)) }] : [line];
  });
}

/** The dots of a line in a picture as a single path, which is a tenth as long and quicker to draw; nobody points at a dot there. */
function dots(data: number[][], color: string): Option {
  return { type: "scatter", data, large: true, largeThreshold: 0, itemStyle: { color, opacity: 1 }, markArea: undefined, markLine: undefined };
}

/** Rows as dots: all of them in the page, and in a picture those that do not cover one another. */
function thinned(rows: number[][], { axis }: Measure, canvas: Canvas): number[][] {
  if (!canvas.filled) return rows;
  const places = { xs: Float64Array.from(rows, ([x]) => x ?? NaN), ys: Float64Array.from(rows, ([, y]) => (Number.isFinite(y) ? (y ?? NaN) : NaN)) };
  return Array.from(apart(places, axis.scale === "linear", canvas), (row) => rows[row] ?? []);
}

/** Rows of a track with a gap before each step: nothing is drawn across the pause between two. */
function broken(rows: number[][], { parts = [] }: Track): number[][] {
  const begins = new Set(parts.map(({ row }) => row));
  return rows.flatMap((row, at) => (at > 0 && begins.has(at) ? [[row[0] ?? 0, Number.NaN, Number.NaN, at], row] : [row]));
}

/** Whether steps have one row each, which is no line. */
function alone({ parts = [] }: Track): boolean {
  return parts.some(({ row }, at) => parts[at + 1]?.row === row + 1);
}

/** The step to which a row belongs. */
export function stepOf({ name, parts = [] }: Track, row: number): string {
  let [from, until] = [0, parts.length];
  while (from < until) {
    const middle = (from + until) >> 1;
    if ((parts[middle]?.row ?? Infinity) <= row) from = middle + 1;
    else until = middle;
  }
  return parts[from - 1]?.name ?? name;
}

function told(shown: { panel: Measure; track: Track } | undefined, { seriesName, value: [time, , value, row] }: Hit, unit_s: number): string {
  if (shown === undefined) return escaped(seriesName);
  const { panel, track } = shown;
  const when = unit_s > 1 ? clock(time) : number(time, "s");
  const unit = panel.axis.quantity === "plain" ? ` ${panel.label}` : "";
  return `${escaped(stepOf(track, row))}<br>${when}, ${escaped(panel.label)}: <b>${escaped(number(value, panel.axis.quantity) + unit)}</b>`;
}
