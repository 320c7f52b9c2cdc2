/**
 * Where the labels of a view stand: of points what is reported first, then the levels across the plot, then the ends of lines, then what
 * has room.
 */

import { place } from "./axes";
import type { Canvas, Option } from "./draw";
import { textWidth } from "./fonts";
import type { Dot, Line, Rule, XyView } from "./spec";

export type Side = "top" | "bottom" | "left" | "right";

/** Places of the label of a level along its line, the best first; those of ECharts. */
const ALONG = ["insideStartTop", "insideEndBottom", "insideEndTop", "insideStartBottom", "insideMiddleTop", "insideMiddleBottom"] as const;

/** Where the label of a level stands: its place along the line, and how many pixels off that. */
export interface Along {
  position: (typeof ALONG)[number];
  distance: number;
}

/** The side of each point whose label has room (a point that is not in it has none), and the place of each level's. */
export interface Places {
  sides: Map<Dot, Side>;
  levels: Map<Rule, Along>;
}

/** The label at the end of a line, and how far it is moved down, in pixels. */
export interface EndName {
  text: string;
  moved: number;
}

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
  /** Labels with the lowest value are placed first. */
  rank: number;
}

/** Margins of the plot within its canvas, in pixels, half of the highest label in the upper one; the width of those of the y-axis comes to the left one. */
const MARGIN = { left: 18, top: 40, bottom: 62 };
const LINE = 14;
/** Distance between a label and its point: from the edge of a marker, and from that of a ring. */
const [AWAY, RINGED] = [10, 14];
/** Radius of a ring, with its line. */
const RING = 10;
/** Spacing of the points by which a line obstructs labels. */
const STEP = 5;
/** Pixels between two labels beside each other; those of a level from its line, and of the name of a line from its end. */
const [GAP, OFF] = [4, 5];
/** How many points of a line under a label are as bad as another label there. */
const STRUCK = 100;

interface Taken {
  box: Box;
  text: string;
}

/** Below this width names of runs leave too little of the plot; more names than these are a list beside it. */
export const [NAMED, MAX_NAMED] = [700, 8];
/** Room that a name takes at the end of its line, in pixels. */
const NAME = 13;

/** Positions of names near their wanted heights, in pixels from the top: none covers another, and none is below the floor. */
export function spreadOut(wanted: number[], floor: number): number[] {
  const down = [...wanted.keys()].sort((one, other) => (wanted[one] ?? 0) - (wanted[other] ?? 0));
  const placed: number[] = [];
  let above = -Infinity;
  for (const at of down) placed[at] = above = Math.max(wanted[at] ?? 0, above + NAME);
  // What was pushed beyond the plot goes back up, and takes the others along.
  let below = floor;
  for (const at of down.reverse()) {
    placed[at] = Math.min(placed[at] ?? 0, below);
    below = (placed[at] ?? 0) - NAME;
  }
  return placed;
}

/** Axes are those of ECharts; a label goes with a marker that is set aside. */
export function labelled(view: XyView, xAxis: Option, yAxis: Option, right: number, canvas: Canvas, aside: Map<Dot, number>, ends: Map<Dot[], EndName>): Places {
  const found: Places = { sides: new Map(), levels: new Map() };
  if (view.rules.every(({ text }) => text === "") && !view.lines.some(({ points }) => points.some(({ label }) => label !== undefined))) return found;
  const plot = plotOf(xAxis, yAxis, right, canvas);
  const lines = view.lines.map(({ points }) => points.map((point) => located(view, point, xAxis, yAxis, plot)));
  const obstacles = lines.flatMap(along);
  const rings = view.lines.flatMap(({ points }, line) => points.flatMap((point, at) => (point.chosen ? [around(lines[line]?.[at] ?? [0, 0])] : [])));
  const taken: Taken[] = [];
  const stand = (one: Wanted) => {
    const boxes = one.sides.map((side) => ({ side, box: boxOf(one, side, canvas) }));
    // Two lines through one place have one label there.
    if (taken.some(({ box, text }) => text === one.text && boxes.some((own) => overlap(box, own.box)))) return;
    const free = boxes.filter(({ box }) => within(box, plot) && !taken.some((other) => overlap(wider(other.box), box)));
    const apart = free.filter(({ box }) => !rings.some((ring) => overlap(ring, box)));
    const clear = apart.find(({ box }) => !obstacles.some((at) => holds(box, at))) ?? (one.point.chosen ? (apart[0] ?? free[0]) : undefined);
    if (clear === undefined) return;
    found.sides.set(one.point, clear.side);
    taken.push({ box: clear.box, text: one.text });
  };
  const all = view.lines.flatMap((line, at) => wanted(line, lines[at] ?? [], aside)).sort((first, other) => first.rank - other.rank);
  all.filter(({ point }) => point.chosen).forEach(stand);
  const names = view.lines.flatMap(({ points, faint }, at) => nameBox(ends.get(points), faint === true, lines[at]?.at(-1), canvas));
  for (const rule of view.rules.filter(({ text }) => text !== "")) {
    const y = located(view, { x: 0, y: rule.y }, xAxis, yAxis, plot)[1];
    const best = freest(levelPlaces(rule.text, y, plot, canvas), plot, obstacles, [...rings, ...names, ...taken.map(({ box }) => box)]);
    if (best === undefined) continue;
    found.levels.set(rule, best.place);
    taken.push({ box: best.box, text: rule.text });
  }
  all.filter(({ point }) => !point.chosen).forEach(stand);
  return found;
}

/** Whether no line runs through the name at the end of another. */
export function apart(view: XyView, xAxis: Option, yAxis: Option, right: number, canvas: Canvas, ends: Map<Dot[], EndName>): boolean {
  const plot = plotOf(xAxis, yAxis, right, canvas);
  const lines = view.lines.map(({ points }) => points.map((point) => located(view, point, xAxis, yAxis, plot)));
  const obstacles = lines.flatMap(along);
  const boxes = view.lines.flatMap(({ points, faint }, at) => nameBox(ends.get(points), faint ?? false, lines[at]?.at(-1), canvas));
  return !boxes.some((box) => obstacles.some((at) => holds(box, at)));
}

/** The points of a line that need a label. */
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

function plotOf(xAxis: Option, yAxis: Option, right: number, { theme, width, height }: Canvas): Box {
  const wide = (axis: Option) => (value: number) => textWidth((axis["axisLabel"] as AxisLabel).formatter(value), 12, theme.font);
  const left = MARGIN.left + Math.max(0, ...ticksOf(yAxis).map(wide(yAxis)));
  // The last tick of the lower axis stays within the canvas with all of its label.
  const last = Math.max(...((xAxis["axisLabel"] as AxisLabel).customValues ?? [Number(xAxis["max"] ?? 1)]));
  const ends = left + (width - right - wide(xAxis)(last) / 2 - left) / (share(last, xAxis) || 1);
  return { left, top: MARGIN.top, right: Math.min(width - right, ends), bottom: height - MARGIN.bottom };
}

interface AxisLabel {
  customValues?: number[];
  formatter: (value: number) => string;
}

function ticksOf(axis: Option): number[] {
  return (axis["axisLabel"] as AxisLabel).customValues ?? [Number(axis["min"] ?? 0), Number(axis["max"] ?? 0), Number(axis["interval"] ?? 0)];
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

/** Where the label of a level may stand: close to its line, else farther from it than rings reach. */
function levelPlaces(text: string, y: number, plot: Box, { theme }: Canvas): { place: Along; box: Box }[] {
  const wide = textWidth(text, 12, theme.font);
  return [OFF, RINGED + GAP].flatMap((distance) =>
    ALONG.map((position) => {
      const left = position.startsWith("insideStart") ? plot.left + distance : position.startsWith("insideEnd") ? plot.right - distance - wide : (plot.left + plot.right - wide) / 2;
      const top = position.endsWith("Top") ? y - distance - LINE : y + distance;
      return { place: { position, distance }, box: { left, top, right: left + wide, bottom: top + LINE } };
    }),
  );
}

/** The first of some places within the plot under which the least of lines and boxes lies. */
function freest(places: { place: Along; box: Box }[], plot: Box, lines: At[], boxes: Box[]): { place: Along; box: Box } | undefined {
  const hits = ({ box }: { box: Box }) => lines.filter((at) => holds(box, at)).length + STRUCK * boxes.filter((other) => overlap(other, roomy(box))).length;
  const tried = places.filter(({ box }) => within(box, plot)).map((one) => ({ ...one, hits: hits(one) }));
  return tried.sort((one, other) => one.hits - other.hits)[0];
}

/** The name at the end of a line. */
function nameBox(name: EndName | undefined, faint: boolean, end: At | undefined, { theme }: Canvas): Box[] {
  if (name === undefined || name.text === "" || end === undefined) return [];
  const [left, top] = [end[0] + OFF, end[1] + name.moved - (faint ? 0 : LINE)];
  return [{ left, top, right: left + textWidth(name.text, 12, theme.font) + LINE, bottom: top + LINE }];
}

/** A box with as much around it as places in the plot are known to. */
function roomy({ left, top, right, bottom }: Box): Box {
  return { left: left - GAP, top: top - GAP, right: right + GAP, bottom: bottom + GAP };
}

function wider(box: Box): Box {
  return { ...box, left: box.left - GAP, right: box.right + GAP };
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
