/** The throughput of drives' links: dashed lines across the bars, beyond which no drive on that link can go, with their labels. */

import { type Api, type BarRow, type Canvas, type Option, runStyle } from "./draw";
import { textWidth } from "./fonts";
import { number, range } from "./numbers";
import type { BarsView } from "./spec";
import { plate } from "./theme";

const SIZE = 11;

/** The throughput of one link, over the rows of its drives from the first to the last. */
export interface LinkLimit {
  mb_s: number;
  interface: string;
  from: number;
  until: number;
  /** Whether all drives with this interface have this link. */
  shared: boolean;
}

/** The throughput of the drives' links, if a bar comes near it; no bar with that interface can exceed it. */
export function linkLimits(view: BarsView, list: BarRow[], canvas: Pick<Canvas, "runs">): LinkLimit[] {
  if (view.axis.quantity !== "mb_s") return [];
  const linkOf = ({ bar }: BarRow) => (bar === undefined ? undefined : runStyle(canvas, bar.run).link_mb_s);
  const interfaceOf = ({ bar }: BarRow) => (bar === undefined ? undefined : runStyle(canvas, bar.run).interface);
  const shared = (row: BarRow) => list.every((other) => other.bar === undefined || interfaceOf(other) !== interfaceOf(row) || linkOf(other) === linkOf(row));
  const fastest = (link?: number) => Math.max(...list.map((row) => (link === undefined || linkOf(row) === link ? (row.bar?.value ?? 0) : 0)));
  const found: LinkLimit[] = [];
  list.forEach((row, at) => {
    const link = linkOf(row);
    const last = found[found.length - 1];
    if (link === undefined || row.bar === undefined || link > 2 * fastest(link) || link > 1.3 * fastest()) return;
    if (last?.mb_s === link && last.until === at - 1) last.until = at;
    else found.push({ mb_s: link, interface: interfaceOf(row) ?? "", from: at, until: at, shared: shared(row) });
  });
  return found;
}

/** The labels of the lines: each interface once, with its throughput. */
export function linkWords(found: LinkLimit[]): string {
  return [...new Set(found.map((limit) => limit.interface))].map((name) => worded(name, found)).join("; ");
}

/** If drives with one interface have different links, each drive has a line of its own. */
function worded(name: string, found: LinkLimit[]): string {
  const own = found.filter((limit) => limit.interface === name);
  const rates = [...new Set(own.map(({ mb_s }) => mb_s))].sort((one, other) => one - other).map((rate) => number(rate, "mb_s"));
  const [least, most] = [rates[0] ?? "", rates[rates.length - 1] ?? ""];
  if (own.every(({ shared }) => shared)) return `${name} link, ${least}`.trim();
  if (rates.length === 1) return `its ${name} link, ${least}`;
  return `their ${name} links, ${rates.length === 2 ? `${least} and ${most}` : range(least, most)}`;
}

/** A dashed line over the bars of each link, from where `rise` has it begin over a row; the words stand over the plot. */
export function limits(found: LinkLimit[], words: string, rise: (api: Api) => number, canvas: Canvas): Option {
  const { theme } = canvas;
  return {
    type: "custom",
    silent: true,
    data: found.map(({ mb_s, from, until }) => [mb_s, from, until]),
    encode: { x: 0, y: [1, 2] },
    z: 1,
    renderItem: (hit: { dataIndex: number; coordSys: { x: number; y: number; width: number } }, api: Api) => {
      const limit = found[hit.dataIndex];
      if (limit === undefined) return undefined;
      const half = api.size([1, 1])[1] / 2;
      const [x] = api.coord([limit.mb_s, limit.from]);
      const style = { stroke: theme.muted, lineWidth: 1.5, lineDash: [5, 3] };
      const lines = stretches(limit, rise(api), half, api).map(([y1, y2]) => ({ type: "line", shape: { x1: x, y1, x2: x, y2 }, style }));
      if (hit.dataIndex > 0) return { type: "group", children: lines };
      const told = textWidth(words, SIZE, theme.font) <= canvas.width - 12 ? words : "dashed: the link of each drive";
      const wide = textWidth(told, SIZE, theme.font);
      const left = placed(found.map(({ mb_s }) => api.coord([mb_s, 0])[0]), wide, hit.coordSys, canvas.width);
      const text = { ...plate(theme), text: told, x: left, y: hit.coordSys.y - 9, verticalAlign: "middle", fill: theme.muted, font: `${SIZE}px ${theme.font}` };
      return { type: "group", children: [...lines, { type: "text", style: text }] };
    },
  };
}

/** Ends of the line over the rows of a link: in one piece where nothing stands over the bars. */
function stretches({ from, until }: LinkLimit, rise: number, half: number, api: Api): [number, number][] {
  const middles = Array.from({ length: until - from + 1 }, (_, at) => api.coord([0, from + at])[1]);
  if (rise < half) return middles.map((middle) => [middle - rise, middle + half - 1]);
  return [[(middles[0] ?? 0) - half, (middles[middles.length - 1] ?? 0) + half]];
}

/** Where words begin: behind the first of their lines, before the last where that is far right, and within the picture. */
function placed(lines: number[], wide: number, plot: { x: number; width: number }, width: number): number {
  const last = Math.max(...lines);
  const wanted = last > plot.x + plot.width * 0.6 ? last - 5 - wide : Math.min(...lines) + 4;
  return Math.max(plot.x, Math.min(wanted, width - wide - 6));
}
