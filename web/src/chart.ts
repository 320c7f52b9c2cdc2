/** The ECharts option and the height of any chart: the common part of the page, saved pictures, and pictures for readers without scripts. */

import { bars, barsHeight, barsLeast } from "./bars";
import type { Canvas, Option } from "./draw";
import { heat, heatHeight } from "./heat";
import { marks, marksHeight } from "./marks";
import { multiples, multiplesHeight, runsOf, TOGETHER } from "./multiples";
import type { Columns } from "./columns";
import { besideHeight, NARROW, series } from "./series";
import type { Chart, RunStyle } from "./spec";
import type { Theme } from "./theme";
import { timeline, timelineHeight } from "./timeline";
import type { Pressed } from "./told";
import { xy } from "./xy";

const NARROW_HEIGHT = 320;
/** Share of the page's height that rows of other charts can be crowded into. */
const CROWDED = { marks: 0.85, heat: 0.65, timeline: 0.65 };
const LEAST = 200;

export interface Sized {
  runs: RunStyle[];
  theme: Theme;
  width: number;
}

/** Height of a chart in the page, in pixels; all its views have the same, so that switching moves nothing. */
export function chartHeight(chart: Chart, canvas: Sized): number {
  return Math.max(...viewsOf(chart).map((view) => viewHeight(chart, view, canvas)));
}

function viewsOf(chart: Chart): number[] {
  return [...(chart.kind === "series" ? chart.choices : chart.views).keys()];
}

/** Height of one view of a chart, or of one choice of a series, in pixels. */
export function viewHeight(chart: Chart, view: number, canvas: Sized): number {
  const { width } = canvas;
  switch (chart.kind) {
    case "bars":
      return barsHeight(at(chart.views, view), canvas);
    case "marks":
      return marksHeight(chart, canvas);
    case "heat":
      return heatHeight(chart);
    case "timeline":
      return timelineHeight(chart);
    case "xy":
      if (chart.views.some((one) => runsOf(one).length > TOGETHER)) return multiplesHeight(at(chart.views, view), width);
      return width < NARROW ? Math.min(NARROW_HEIGHT, canvas.theme.height) : canvas.theme.height;
    case "series":
      return Math.max(width < NARROW ? Math.min(NARROW_HEIGHT, canvas.theme.height) : canvas.theme.height, besideHeight(chart, view, width));
  }
}

/** Pixels below which a view is not legible: a picture of a given size becomes higher instead. */
export function leastHeight(chart: Chart, view: number, canvas: Sized): number {
  switch (chart.kind) {
    case "bars":
      return barsLeast(at(chart.views, view), canvas);
    case "marks":
      return marksHeight(chart, canvas) * CROWDED.marks;
    case "heat":
      return heatHeight(chart) * CROWDED.heat;
    case "timeline":
      return timelineHeight(chart) * CROWDED.timeline;
    case "xy":
      return runsOf(at(chart.views, view)).length > TOGETHER ? viewHeight(chart, view, canvas) * CROWDED.marks : LEAST;
    case "series":
      return Math.max(LEAST, besideHeight(chart, view, canvas.width) * CROWDED.timeline);
  }
}

/** The option that is passed to ECharts. */
export function chartOption(chart: Chart, { view, choice, measure }: Pressed, columns: Columns, canvas: Canvas): Option {
  switch (chart.kind) {
    case "xy": {
      const shown = at(chart.views, view);
      return runsOf(shown).length > TOGETHER ? multiples(shown, canvas) : xy(shown, canvas);
    }
    case "bars":
      return bars(at(chart.views, view), canvas);
    case "marks":
      return marks(chart, at(chart.views, view), canvas);
    case "heat":
      return heat(chart, at(chart.views, view), canvas);
    case "timeline":
      return timeline(chart, at(chart.views, view), columns, canvas);
    case "series":
      return series(chart, columns, choice, measure, canvas);
  }
}

/** The item of a list at an index, or else the first. */
export function at<T>(list: T[], index: number): T {
  const found = list[index] ?? list[0];
  if (found === undefined) throw new Error("a chart without a view");
  return found;
}
