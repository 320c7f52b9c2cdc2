/** Small multiples: where more runs are compared than looks are told apart at a glance, each has a small plot, on common axes. */

import { axisOption } from "./axes";
import { type Canvas, type Option, runStyle } from "./draw";
import type { XyView } from "./spec";
import { base } from "./theme";
import { drawn, ranges, tooltip } from "./xy";

/** So many runs share a plot. */
export const TOGETHER = 16;
const [WIDTH, HEIGHT, TOP, GAP, BOTTOM] = [250, 110, 34, 46, 44];

export function runsOf(view: XyView): number[] {
  return [...new Set(view.lines.map(({ run }) => run))];
}

function columns(width: number): number {
  return Math.max(1, Math.floor(width / WIDTH));
}

/** Pixels that the plots of a view want. */
export function multiplesHeight(view: XyView, width: number): number {
  return TOP + Math.ceil(runsOf(view).length / columns(width)) * (HEIGHT + GAP) - GAP + BOTTOM;
}

export function multiples(view: XyView, canvas: Canvas): Option {
  const runs = runsOf(view);
  const across = columns(canvas.width);
  const wide = (canvas.width - 16) / across;
  const down = Math.ceil(runs.length / across);
  const high = (canvas.height - TOP - BOTTOM - (down - 1) * GAP) / down;
  const { xs, ys } = ranges(view);
  const places = runs.map((run, at) => ({ run, at, left: 56 + (at % across) * wide, top: TOP + Math.floor(at / across) * (high + GAP) }));
  const lowest = (at: number) => at + across >= runs.length;
  return {
    ...base(canvas.theme),
    tooltip: tooltip(view, canvas),
    grid: places.map(({ left, top }) => ({ left, top, width: wide - 66, height: high, outerBoundsMode: "none" })),
    xAxis: places.map(({ at }) => {
      const axis = axisOption(view.x, { theme: canvas.theme, side: "x", values: xs, length: wide * 0.7 });
      return { ...axis, gridIndex: at, ...(lowest(at) ? {} : { axisLabel: { show: false }, name: "" }) };
    }),
    yAxis: places.map(({ run, at }) => {
      const axis = axisOption(view.y, { theme: canvas.theme, side: "y", values: ys, length: high });
      const nameTextStyle = { color: canvas.theme.text, fontSize: 12, align: "left" };
      return { ...axis, gridIndex: at, name: runStyle(canvas, run).short, nameTextStyle, ...(at % across === 0 ? {} : { axisLabel: { show: false } }) };
    }),
    series: places.flatMap(({ run, at }) => {
      const own = { ...view, lines: view.lines.filter((line) => line.run === run), rules: [] };
      // In a small plot what is reported has its label, and nothing else room for one.
      const reported = new Map(own.lines.flatMap(({ points }) => points.filter(({ chosen, label }) => chosen && label !== undefined).map((point) => [point, "bottom" as const])));
      return drawn(own, canvas, reported).map((one) => ({ ...one, xAxisIndex: at, yAxisIndex: at }));
    }),
  };
}
