/** Horizontal bars from zero, the value printed at the end of each, best first within a group. */

import { axisOption } from "./axes";
import { type Api, type BarRow, type Canvas, type Option, runStyle } from "./draw";
import { textWidth } from "./fonts";
import { number, range } from "./numbers";
import { type LinkLimit, limits, linkLimits, linkWords } from "./links";
import type { Bar, BarsView, RunStyle } from "./spec";
import { base, colourOf, escaped, PLATE, plate, type Theme } from "./theme";

type Place = "beside" | "above";

const SIZE = 13;
/** Pixels by which the first and the last tick of an axis are wider than it. */
const TICK = 24;
/** Share of the width that labels may take beside the bars. */
const BESIDE = 0.4;
/** Pixels of the axis below the rows, with its title, and of what stands over them: they cannot be crowded. */
const AXIS = 64;
const ROW: Record<Place, number> = { beside: 30, above: 46 };
/** Height of the rows of a view, in pixels. */
export function barsHeight(view: BarsView, canvas: Pick<Canvas, "runs" | "theme" | "width">): number {
  return AXIS + barRows(view, canvas).length * ROW[placed(view, canvas)];
}

/** Share of its height that a row can be crowded into: a name over its bar must not come to lie on the bar above. */
const CROWDED: Record<Place, number> = { beside: 0.6, above: 0.9 };

/** Pixels below which the rows of a view are not legible. */
export function barsLeast(view: BarsView, canvas: Pick<Canvas, "runs" | "theme" | "width">): number {
  const place = placed(view, canvas);
  return AXIS + barRows(view, canvas).length * ROW[place] * CROWDED[place];
}

export function bars(view: BarsView, canvas: Canvas): Option {
  const { theme, width, height } = canvas;
  const list = barRows(view, canvas);
  const place = placed(view, canvas);
  // Views of one figure have one height, so that switching moves nothing; rows keep theirs, and what is left is below.
  const left = canvas.filled ? 0 : Math.max(0, height - barsHeight(view, canvas));
  const reached = list.map(({ bar }) => Math.max(bar?.value ?? 0, bar?.high ?? 0, bar?.rated ?? 0));
  const links = linkLimits(view, list, canvas);
  const longest = Math.max(...list.map(({ bar }) => (bar === undefined ? 0 : textWidth(printed(view, bar), SIZE, theme.font))));
  const named = Math.max(...list.map(({ label }) => textWidth(label, SIZE, theme.font)));
  const common = base(theme);
  const rated = list.some(({ bar }) => bar?.rated !== undefined);
  const words = linkWords(links);
  const axis = { ...view.axis, title: `${view.axis.title}${rated ? "   ( | rated )" : ""}` };
  const xAxis = axisOption(axis, { theme, side: "x", values: [...reached, ...links.map(({ mb_s }) => mb_s)], length: Math.max(110, width - longest - (place === "beside" ? named : 0)) });
  const rich = { group: { fontWeight: "bold", fontSize: SIZE, color: theme.text } };
  // A name over its bar is drawn with it: as the label of an axis it would narrow the plot by what it is longer.
  const axisLabel = place === "beside" ? { color: theme.text, fontSize: SIZE, interval: 0, rich } : { show: false };
  return {
    ...common,
    tooltip: { ...(common["tooltip"] as Option), formatter: (hit: { dataIndex: number }) => told(view, list[hit.dataIndex], canvas) },
    grid: { left: 8, right: longest + 14, top: words.length > 0 ? 22 : 8, bottom: 40 + left, outerBoundsMode: "same", outerBoundsContain: "axisLabel" },
    xAxis: { ...xAxis, ...(place === "beside" ? {} : begun(axis.title, width - longest - 22 - TICK, theme)), splitLine: { show: place === "beside", lineStyle: { color: theme.grid } } },
    yAxis: {
      type: "category",
      inverse: true,
      data: list.map(({ label: text, bar }) => (bar === undefined ? `{group|${text}}` : text)),
      axisLine: { lineStyle: { color: theme.rule } },
      axisTick: { show: false },
      axisLabel,
      z: 5,
    },
    series: [column(view, list, links, place, canvas), whiskers(list, place, canvas), ratings(list, place, canvas), limits(links, words, (api) => rise(api, place), canvas)],
  };
}

/** Where the title of an axis begins that is longer than the axis: at its beginning, not left of it. */
function begun(title: string, length: number, theme: Theme): Option {
  const beyond = textWidth(title, 12, theme.font) - length;
  return beyond > 0 ? { nameTextStyle: { color: theme.muted, fontSize: 12, align: "center", padding: [0, 0, 0, beyond] } } : {};
}

/** The label after a bar: its value and note. */
function printed(view: BarsView, bar: Bar): string {
  return [bar.withheld ? NOTHING : number(bar.value, view.axis.quantity), bar.note].filter((text) => text !== "").join("   ");
}

/** The label in place of a withheld value. */
export const NOTHING = "—";

/** The rows of a view with the labels that they have at this width; where several runs are compared, several groups have headings. */
export function barRows(view: BarsView, canvas: Pick<Canvas, "runs" | "theme" | "width">): BarRow[] {
  const several = view.groups.some((group) => group.bars.length > 1);
  if (!several) return view.groups.flatMap(({ name, bars: inside }) => inside.map((bar) => ({ label: name, group: name, bar })));
  const label = labelled(view, canvas);
  return view.groups.flatMap(({ name, bars: inside }) => [
    ...(view.groups.length > 1 ? [{ label: name, group: name, bar: undefined }] : []),
    ...ranked(view, inside).map((bar) => ({ label: label(bar), group: name, bar })),
  ]);
}

/** Bars of different runs, the ranked best first and then the others as given; bars of one run stay as they come. */
function ranked(view: BarsView, inside: Bar[]): Bar[] {
  if (new Set(inside.map(({ run }) => run)).size < inside.length) return inside;
  const sign = view.better === "higher" ? -1 : 1;
  return [...inside].sort((one, other) => Number(one.unranked ?? false) - Number(other.unranked ?? false) || (one.unranked === true ? 0 : sign * (one.value - other.value)));
}

/** A drive's interface, shown after its name if drives with several interfaces are in one view. */
function marked(view: BarsView, canvas: Pick<Canvas, "runs">): (run: RunStyle) => string {
  const all = new Set(view.groups.flatMap((group) => group.bars.map((bar) => runStyle(canvas, bar.run).interface)));
  return (run) => (all.size > 1 && run.interface !== undefined ? `   ${run.interface}` : "");
}

/** Short names, as on cards and at lines: beside the bars, or above them where that leaves too little room. */
function labelled(view: BarsView, canvas: Pick<Canvas, "runs">): (bar: Bar) => string {
  const mark = marked(view, canvas);
  return (bar) => runStyle(canvas, bar.run).short + mark(runStyle(canvas, bar.run));
}

function placed(view: BarsView, canvas: Pick<Canvas, "runs" | "theme" | "width">): Place {
  const several = view.groups.some((group) => group.bars.length > 1);
  const needed = several ? widest(view, canvas, (run) => run.short + marked(view, canvas)(run)) : Math.max(...view.groups.map(({ name }) => textWidth(name, SIZE, canvas.theme.font)));
  return needed <= canvas.width * BESIDE ? "beside" : "above";
}

function widest(view: BarsView, canvas: Pick<Canvas, "runs" | "theme">, naming: (run: RunStyle) => string): number {
  const names = new Set(view.groups.flatMap((group) => group.bars.map((bar) => naming(runStyle(canvas, bar.run)))));
  return Math.max(0, ...[...names].map((name) => textWidth(name, SIZE, canvas.theme.font)));
}

/** How far bars lie below the middle of their rows, in pixels, to leave room for a name. */
function lowered(place: Place): number {
  return place === "above" ? 9 : 0;
}

/** Start of a text that no vertical line may cross: after the line that would cross it. */
export function clearOf(lines: number[], from: number, width: number): number {
  return [...lines].sort((one, other) => one - other).reduce((x, line) => (line > x - AROUND && line < x + width + AROUND ? line + AROUND : x), from);
}

/** Pixels between a text and a line beside it. */
const AROUND = 6;

/** Pixels from the end of a bar within which a line is taken for a part of it: its value then stands behind both. */
const NEAR = 14;

function column(view: BarsView, list: BarRow[], links: LinkLimit[], place: Place, canvas: Canvas): Option {
  return {
    type: "custom",
    data: list.map(({ bar }, at) => [bar?.value ?? 0, at]),
    encode: { x: 0, y: 1 },
    z: 2,
    renderItem: (hit: { dataIndex: number; coordSys: { x: number } }, api: Api) => {
      const [row, at] = [list[hit.dataIndex], hit.dataIndex];
      if (row === undefined) return undefined;
      const name = place === "above" ? [named(row, hit.coordSys.x + INSET, api.coord([0, at])[1], canvas)] : [];
      if (row.bar === undefined) return { type: "group", children: name };
      const bar = row.bar;
      const run = runStyle(canvas, bar.run);
      const colour = colourOf(run, canvas.theme);
      const [from, middle] = api.coord([0, at]);
      const [until] = api.coord([bar.value, at]);
      const style = run.hollow ? { fill: canvas.theme.paper, stroke: colour, lineWidth: 2, lineDash: [2, 3] } : { fill: bar.unranked === true ? canvas.theme.rule : colour };
      const ends = bar.high === undefined ? until : Math.max(until, api.coord([bar.high, at])[0]);
      const thick = thickness(api, place);
      const words = printed(view, bar);
      const lines = links.filter(({ from, until }) => from <= at && at <= until).map(({ mb_s }) => api.coord([mb_s, at])[0]);
      // A link's line further on runs behind the value; what the drive is rated for is never covered.
      const upright = [...lines.filter((x) => x < ends + NEAR), ...(bar.rated === undefined ? [] : [api.coord([bar.rated, at])[0]])];
      const x = clearOf(upright, ends + 8, textWidth(words, SIZE, canvas.theme.font));
      const text = { ...plate(canvas.theme), text: words, x: x - PLATE, y: middle + lowered(place), fill: bar.withheld ? canvas.theme.muted : canvas.theme.text, font: `${SIZE}px ${canvas.theme.font}`, verticalAlign: "middle" };
      return {
        type: "group",
        children: [...name, { type: "rect", shape: { x: from, y: middle - thick / 2 + lowered(place), width: Math.max(0, until - from), height: thick }, style }, { type: "text", style: text, silent: true }],
      };
    },
  };
}

/** Pixels between the axis and a name over its bar. */
const INSET = 4;

/** A name above its bar, or a heading close to its group. */
function named({ label, bar }: BarRow, x: number, middle: number, { theme }: Canvas): Option {
  const font = bar === undefined ? `bold ${SIZE}px ${theme.font}` : `${SIZE}px ${theme.font}`;
  const indented = label.length - label.trimStart().length;
  const style = { ...plate(theme), text: label.trim(), x: x + 5 * indented - PLATE, y: middle + (bar === undefined ? lowered("above") : -12), fill: theme.text, font, verticalAlign: "middle" };
  return { type: "text", style, silent: true };
}

/** By how many pixels a line over a row begins above its middle: below a name. */
function rise(api: Api, place: Place): number {
  return place === "beside" ? api.size([1, 1])[1] / 2 : thickness(api, place) / 2 + 4 - lowered(place);
}

/** Pixels of a bar: three fifths of its row, less under a name, and neither a thread nor a block. */
function thickness(api: Api, place: Place): number {
  return Math.min(28, Math.max(8, Math.round(api.size([1, 1])[1] * (place === "beside" ? 0.6 : 0.38))));
}

/** Slowest and fastest interval as a thin line over the bar. */
function whiskers(list: BarRow[], place: Place, canvas: Canvas): Option {
  const known = list.flatMap(({ bar }, at) => (bar?.low !== undefined && bar.high !== undefined ? [[at, bar.low, bar.high]] : []));
  return {
    type: "custom",
    silent: true,
    data: known,
    encode: { x: [1, 2], y: 0 },
    z: 4,
    renderItem: (_: unknown, api: Api) => {
      const [x1, middle] = api.coord([api.value(1), api.value(0)]);
      const [x2] = api.coord([api.value(2), api.value(0)]);
      const y = middle + lowered(place);
      const style = { stroke: canvas.theme.text, lineWidth: 1 };
      const top = y - thickness(api, place) / 2 - 2;
      const edge = (x: number) => ({ type: "line", shape: { x1: x, y1: top - 2, x2: x, y2: top + 2 }, style });
      return { type: "group", children: [edge(x1), edge(x2), { type: "line", shape: { x1, y1: top, x2, y2: top }, style }] };
    },
  };
}

/** A drive's rating, as a tick across its bar. */
function ratings(list: BarRow[], place: Place, canvas: Canvas): Option {
  const known = list.flatMap(({ bar }, at) => (bar?.rated === undefined ? [] : [[at, bar.rated]]));
  return {
    type: "custom",
    silent: true,
    data: known,
    encode: { x: 1, y: 0 },
    z: 4,
    renderItem: (_: unknown, api: Api) => {
      const [x, middle] = api.coord([api.value(1), api.value(0)]);
      const [y, reach] = [middle + lowered(place), thickness(api, place) / 2 + 3];
      const shape = { x1: x, y1: y - reach, x2: x, y2: y + reach };
      return {
        type: "group",
        children: [
          { type: "line", shape, style: { stroke: canvas.theme.paper, lineWidth: 5 } },
          { type: "line", shape, style: { stroke: canvas.theme.text, lineWidth: 2 } },
        ],
      };
    },
  };
}

function told(view: BarsView, row: BarRow | undefined, canvas: Canvas): string {
  const bar = row?.bar;
  if (bar === undefined) return "";
  const lines = [runStyle(canvas, bar.run).label, printed(view, bar)];
  if (bar.low !== undefined && bar.high !== undefined) {
    lines.push(`intervals: ${range(number(bar.low, view.axis.quantity), number(bar.high, view.axis.quantity))}`);
  }
  const link = runStyle(canvas, bar.run).link_mb_s;
  if (view.axis.quantity === "mb_s" && link !== undefined) lines.push(`link: ${number(link, "mb_s")}`);
  if (bar.rated !== undefined) lines.push(`rated: ${number(bar.rated, view.axis.quantity)}`);
  return lines.map(escaped).join("<br>");
}
