/** Which points of a view have their label, and on which side of it: what is reported first, then the ends of lines, then what has room. */

import { place } from "./axes";
import type { Canvas, Option } from "./draw";
import { textWidth } from "./fonts";
import type { Dot, Line, XyView } from "./spec";

export type Side = "top" | "bottom" | "left" | "right";

interface Box {
  left: number;
  top: number;
  right: number;
  bottom: number;
}

type At = [number, number];

interface Wanted {
  point: Dot;
  text: string;
  at: At;
  /** Sides on which it may stand, the best first. */
  sides: Side[];
  /** What is placed first has the lowest. */
  rank: number;
}

/** Margins of the plot within its canvas, in pixels; the width of the labels of the y-axis comes to the left one. */
const MARGIN = { left: 18, top: 34, bottom: 62 };
const LINE = 14;
/** Between a label and what it is of: the edge of a marker, that of a ring. */
const [AWAY, RINGED] = [10, 14];
/** Radius of a ring, with its line. */
const RING = 10;
/** Of the obstacles that a line is to labels. */
const STEP = 5;

/** The side of each point whose label has room; a point that is not in it has none. Axes are those of ECharts; a label goes with a marker that is set aside. */
export function labelled(view: XyView, xAxis: Option, yAxis: Option, right: number, canvas: Canvas, aside: Map<Dot, number>): Map<Dot, Side> {
  const found = new Map<Dot, Side>();
  if (!view.lines.some(({ points }) => points.some(({ label }) => label !== undefined))) return found;
  const plot = plotOf(yAxis, right, canvas);
  const lines = view.lines.map(({ points }) => points.map((point) => located(view, point, xAxis, yAxis, plot)));
  const obstacles = lines.flatMap(along);
  const rings = view.lines.flatMap(({ points }, line) => points.flatMap((point, at) => (point.chosen ? [around(lines[line]?.[at] ?? [0, 0])] : [])));
  const taken: { box: Box; text: string }[] = [];
  const all = view.lines.flatMap((line, at) => wanted(line, lines[at] ?? [], aside));
  for (const one of all.sort((first, other) => first.rank - other.rank)) {
    const boxes = one.sides.map((side) => ({ side, box: boxOf(one, side, canvas) }));
    // Two lines through one place have one label there.
    if (taken.some(({ box, text }) => text === one.text && boxes.some((own) => overlap(box, own.box)))) continue;
    const free = boxes.filter(({ box }) => within(box, plot) && !taken.some((other) => overlap(other.box, box)));
    const apart = free.filter(({ box }) => !rings.some((ring) => overlap(ring, box)));
    const clear = apart.find(({ box }) => !obstacles.some((at) => holds(box, at))) ?? (one.point.chosen ? (apart[0] ?? free[0]) : undefined);
    if (clear === undefined) continue;
    found.set(one.point, clear.side);
    taken.push({ box: clear.box, text: one.text });
  }
  return found;
}

/** The points of a line that ask for a label. */
function wanted({ points }: Line, places: At[], aside: Map<Dot, number>): Wanted[] {
  return points.flatMap((point, index) => {
    const own = places[index];
    if (point.label === undefined || own === undefined) return [];
    const at: At = [own[0] + (point.chosen ? 0 : (aside.get(point) ?? 0)), own[1]];
    const end = index === 0 || index === points.length - 1;
    const upright: Side[] = steep(places, index) ? ["left", "right", "top", "bottom"] : ["top", "bottom", "left", "right"];
    return [{ point, text: point.label, at, sides: point.chosen ? ["bottom", "right", "left", "top"] : upright, rank: point.chosen ? 0 : end ? 1 : 2 }];
  });
}

/** Whether the curve runs more upwards than sideways at a point: its label then stands next to it, not above. */
function steep(places: At[], index: number): boolean {
  const [before, after] = [places[Math.max(0, index - 1)], places[Math.min(places.length - 1, index + 1)]];
  if (before === undefined || after === undefined) return false;
  return Math.abs(after[1] - before[1]) > Math.abs(after[0] - before[0]);
}

function plotOf(yAxis: Option, right: number, { theme, width, height }: Canvas): Box {
  const label = yAxis["axisLabel"] as { customValues?: number[]; formatter: (value: number) => string };
  const ticks = label.customValues ?? [Number(yAxis["min"] ?? 0), Number(yAxis["max"] ?? 0), Number(yAxis["interval"] ?? 0)];
  const widest = Math.max(0, ...ticks.map((value) => textWidth(label.formatter(value), 12, theme.font)));
  return { left: MARGIN.left + widest, top: MARGIN.top, right: width - right, bottom: height - MARGIN.bottom };
}

function located(view: XyView, { x, y }: Dot, xAxis: Option, yAxis: Option, plot: Box): At {
  const across = share(place(view.x, x), xAxis);
  const up = share(place(view.y, y), yAxis);
  return [plot.left + across * (plot.right - plot.left), plot.bottom - up * (plot.bottom - plot.top)];
}

function share(value: number, axis: Option): number {
  const [min, max] = [Number(axis["min"] ?? 0), Number(axis["max"] ?? 1)];
  return (value - min) / (max - min || 1);
}

/** Places along a line, so close that no label fits between them. */
function along(places: At[]): At[] {
  return places.flatMap((to, index): At[] => {
    const from = places[Math.max(0, index - 1)] ?? to;
    const steps = Math.max(1, Math.ceil(Math.hypot(to[0] - from[0], to[1] - from[1]) / STEP)) || 1;
    return Array.from({ length: steps }, (_, at) => [to[0] - ((to[0] - from[0]) * at) / steps, to[1] - ((to[1] - from[1]) * at) / steps]);
  });
}

function boxOf({ at: [x, y], text, point }: Wanted, side: Side, { theme }: Canvas): Box {
  const wide = textWidth(text, point.chosen ? 12 : 11, theme.font, point.chosen);
  const away = point.chosen ? RINGED : AWAY;
  const [left, top] = {
    top: [x - wide / 2, y - away - LINE],
    bottom: [x - wide / 2, y + away],
    left: [x - away - wide, y - LINE / 2],
    right: [x + away, y - LINE / 2],
  }[side] as At;
  return { left, top, right: left + wide, bottom: top + LINE };
}

/** The ring around a point. */
function around([x, y]: At): Box {
  return { left: x - RING, top: y - RING, right: x + RING, bottom: y + RING };
}

function overlap(one: Box, other: Box): boolean {
  return one.left < other.right && other.left < one.right && one.top < other.bottom && other.top < one.bottom;
}

function within(inner: Box, outer: Box): boolean {
  return inner.left >= outer.left && inner.right <= outer.right && inner.top >= outer.top - LINE && inner.bottom <= outer.bottom;
}

function holds(box: Box, [x, y]: At): boolean {
  return x > box.left - 3 && x < box.right + 3 && y > box.top && y < box.bottom;
}
