/** Points of several runs in one place: their markers are set apart, so that each is seen. */

import { place } from "./axes";
import type { Option } from "./draw";
import type { Dot, XyView } from "./spec";

/** Pixels within which one marker hides another, and by which markers are then set apart. */
const [HIDDEN, APART] = [3, 6];

/** More points than these are no markers to be told apart. */
const MANY = 2000;

/** By how many pixels the marker of a point is set off its place; of points alone in theirs, nothing. */
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
    if (new Set(together.map(({ run }) => run)).size < 2) continue;
    together.forEach(({ point }, at) => found.set(point, (at - (together.length - 1) / 2) * APART));
  }
  return found;
}
