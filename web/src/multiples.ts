/** Small multiples: if there are more runs than looks that can be told apart at a glance, each run has a small plot on common axes. */

import { axisOption } from "./axes";
import { type Canvas, type Option, runStyle } from "./draw";
import type { XyView } from "./spec";
import { base } from "./theme";
import { drawn, ranges, tooltip } from "./xy";

/** Maximum number of runs that share a plot. */
export const TOGETHER = 16;
const SIZE: Size = { width: 250, height: 110 };
const [TOP, GAP, BOTTOM] = [44, 46, 44];
/** Pixels for the labels of the first plot of a row; those between plots, and behind the last. */
const [LEFT, RIGHT] = [64, 20];

/** Pixels that a small plot takes at least, its margins within the width. */
export interface Size {
  width: number;
  height: number;
}

/** A small plot among others, the first of its row, or in the lowest row. */
export interface Cell {
  at: number;
  left: number;
  top: number;
  width: number;
  height: number;
  first: boolean;
  lowest: boolean;
}

function across(count: number, width: number, size: Size): number {
  return Math.max(1, Math.min(count, Math.floor(width / size.width)));
}

/** Height of a number of small plots, in pixels. */
export function cellsHeight(count: number, width: number, size: Size): number {
  return TOP + Math.ceil(count / across(count, width, size)) * (size.height + GAP) - GAP + BOTTOM;
}

/** The places of so many small plots, row by row, that share out the canvas. */
export function cells(count: number, canvas: Canvas, size: Size): Cell[] {
  const columns = across(count, canvas.width, size);
  const wide = (canvas.width - LEFT - 8) / columns;
  const down = Math.ceil(count / columns);
  const height = (canvas.height - TOP - BOTTOM - (down - 1) * GAP) / down;
  return Array.from({ length: count }, (_, at) => ({
    at,
    left: LEFT + (at % columns) * wide,
    top: TOP + Math.floor(at / columns) * (height + GAP),
    width: wide - RIGHT,
    height,
    first: at % columns === 0,
    lowest: at + columns >= count,
  }));
}

export function runsOf(view: XyView): number[] {
  return [...new Set(view.lines.map(({ run }) => run))];
}

/** Height of a view's plots, in pixels. */
export function multiplesHeight(view: XyView, width: number): number {
  return cellsHeight(runsOf(view).length, width, SIZE);
}

export function multiples(view: XyView, canvas: Canvas): Option {
  const runs = runsOf(view);
  const { xs, ys } = ranges(view);
  const places = cells(runs.length, canvas, SIZE).map((cell) => ({ ...cell, run: runs[cell.at] ?? 0 }));
  return {
    ...base(canvas.theme),
    tooltip: tooltip(view, canvas),
    grid: places.map(({ left, top, width, height }) => ({ left, top, width, height, outerBoundsMode: "none" })),
    xAxis: places.map(({ at, width, lowest }) => {
      const axis = axisOption(view.x, { theme: canvas.theme, side: "x", values: xs, length: width });
      return { ...axis, gridIndex: at, ...(lowest ? {} : { axisLabel: { show: false }, name: "" }) };
    }),
    yAxis: places.map(({ run, at, height, first }) => {
      const axis = axisOption(view.y, { theme: canvas.theme, side: "y", values: ys, length: height });
      const nameTextStyle = { color: canvas.theme.text, fontSize: 12, align: "left" };
      return { ...axis, gridIndex: at, name: runStyle(canvas, run).short, nameTextStyle, ...(first ? {} : { axisLabel: { show: false } }) };
    }),
    series: places.flatMap(({ run, at }) => {
      const own = { ...view, lines: view.lines.filter((line) => line.run === run), rules: [] };
      // In a small plot only the reported point has room for a label.
      const reported = new Map(own.lines.flatMap(({ points }) => points.filter(({ chosen, label }) => chosen && label !== undefined).map((point) => [point, "bottom" as const])));
      return drawn(own, canvas, reported).map((one) => ({ ...one, xAxisIndex: at, yAxisIndex: at }));
    }),
  };
}
