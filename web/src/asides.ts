/** Sets markers apart if points of several runs are in one place, so that each can be seen. */

import { place } from "./axes";
import type { Option } from "./draw";
import type { Dot, XyView } from "./spec";

/** Pixels within which one marker hides another, and by which markers are then set apart. */
const [HIDDEN, APART] = [3, 6];

/** Pixels from the first of them to the last at most: further off they are of another place. */
const WIDEST = 30;

/** Maximum number of points whose markers are told apart. */
const MANY = 2000;

/** How far the marker of a point is moved, in pixels; points alone in their place do not move. */
export function asides(view: XyView, xAxis: Option, yAxis: Option, size: { width: number; height: number }): Map<Dot, number> {
  const pixels = (axis: Option, length: number) => {
    const [min, max] = [Number(axis["min"] ?? 0), Number(axis["max"] ?? Number.NaN)];
    return (value: number) => ((value - min) / (max - min)) * length;
  };
  const [across, up] = [pixels(xAxis, size.width), pixels(yAxis, size.height)];
  const points = view.lines.flatMap(({ run, faint, points: own }) => (faint ? [] : own.filter(({ quiet }) => !quiet).map((point) => ({ run, point, x: across(place(view.x, point.x)), y: up(place(view.y, point.y)) }))));
  if (points.length > MANY) return new Map();
  const left = new Set(points);
  const found = new Map<Dot, number>();
  for (const one of points) {
    if (!left.has(one)) continue;
    const together = [...left].filter(({ x, y }) => Math.abs(x - one.x) < HIDDEN && Math.abs(y - one.y) < HIDDEN);
    for (const each of together) left.delete(each);
    const runs = [...new Set(together.map(({ run }) => run))];
    if (runs.length < 2) continue;
    const step = Math.min(APART, WIDEST / (runs.length - 1));
    for (const { point, run } of together) found.set(point, (runs.indexOf(run) - (runs.length - 1) / 2) * step);
  }
  return found;
}
