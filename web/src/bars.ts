/** Horizontal bars from zero, the value printed at the end of each. */

import { axisOption } from "./axes";
import { type Canvas, type Option, runStyle } from "./draw";
import { number } from "./numbers";
import type { Bar, BarsView, RunStyle } from "./spec";
import { base, colourOf, escaped } from "./theme";

interface Row {
  name: string;
  bar: Bar | undefined;
}

/** Width of a letter of a label in pixels, roughly. */
const LETTER = 7;

/** Pixels that the rows of a view want. */
export function barsHeight(view: BarsView, runs: RunStyle[]): number {
  return 64 + rows(view, { runs }).length * 30;
}

export function bars(view: BarsView, canvas: Canvas): Option {
  const { theme, width } = canvas;
  const list = rows(view, canvas);
  const values = list.map(({ bar }) => Math.max(bar?.value ?? 0, bar?.high ?? 0));
  const longest = Math.max(...list.map(({ bar }) => (bar === undefined ? 0 : printed(view, bar).length)));
  const common = base(theme);
  const xAxis = axisOption(view.axis, { theme, side: "x", values, length: width });
  return {
    ...common,
    tooltip: { ...(common["tooltip"] as Option), formatter: (hit: { dataIndex: number }) => told(view, list[hit.dataIndex], canvas) },
    grid: { left: 8, right: longest * LETTER + 12, top: 8, bottom: 40, outerBoundsMode: "same", outerBoundsContain: "axisLabel" },
    xAxis: { ...xAxis, splitLine: { show: true, lineStyle: { color: theme.grid } }, },
    yAxis: {
      type: "category",
      inverse: true,
      data: list.map(({ name }) => name),
      axisLine: { lineStyle: { color: theme.rule } },
      axisTick: { show: false },
      axisLabel: { color: theme.text, fontSize: 13, interval: 0, width: Math.min(220, width * 0.34), overflow: "truncate", rich: { group: { fontWeight: "bold", fontSize: 13, color: theme.text } } },
    },
    series: [column(view, list, canvas), whiskers(list, canvas)],
  };
}

/** What stands behind a bar: the value, and its note. */
function printed(view: BarsView, bar: Bar): string {
  return [number(bar.value, view.axis.quantity), bar.note].filter((text) => text !== "").join("   ");
}

/** Where several runs are compared, each group has its name as a row and each bar the name of its run. */
function rows(view: BarsView, canvas: Pick<Canvas, "runs">): Row[] {
  const several = view.groups.some((group) => group.bars.length > 1);
  return view.groups.flatMap(({ name, bars: inside }) => {
    if (!several) return inside.map((bar) => ({ name, bar }));
    return [{ name: `{group|${name}}`, bar: undefined }, ...inside.map((bar) => ({ name: runStyle(canvas, bar.run).label, bar }))];
  });
}

function column(view: BarsView, list: Row[], canvas: Canvas): Option {
  return {
    type: "bar",
    barWidth: 18,
    data: list.map(({ bar }) => {
      if (bar === undefined) return { value: "-" };
      const run = runStyle(canvas, bar.run);
      const colour = colourOf(run, canvas.theme);
      const style = run.hollow ? { color: canvas.theme.paper, borderColor: colour, borderWidth: 2, borderType: [2, 3] } : { color: colour };
      return { value: bar.value, itemStyle: style };
    }),
    emphasis: { disabled: true },
    label: {
      show: true,
      position: "right",
      distance: 8,
      color: canvas.theme.text,
      fontSize: 13,
      formatter: ({ dataIndex }: { dataIndex: number }) => {
        const bar = list[dataIndex]?.bar;
        return bar === undefined ? "" : printed(view, bar);
      },
    },
  };
}

/** Slowest and fastest interval as a thin line through the end of the bar. */
function whiskers(list: Row[], canvas: Canvas): Option {
  const known = list.flatMap(({ bar }, at) => (bar?.low !== undefined && bar.high !== undefined ? [[at, bar.low, bar.high]] : []));
  return {
    type: "custom",
    silent: true,
    data: known,
    encode: { x: [1, 2], y: 0 },
    z: 4,
    renderItem: (_: unknown, api: { value(index: number): number; coord(at: number[]): [number, number] }) => {
      const [x1, y] = api.coord([api.value(1), api.value(0)]);
      const [x2] = api.coord([api.value(2), api.value(0)]);
      const style = { stroke: canvas.theme.text, lineWidth: 1 };
      const edge = (x: number) => ({ type: "line", shape: { x1: x, y1: y - 13, x2: x, y2: y - 9 }, style });
      return { type: "group", children: [edge(x1), edge(x2), { type: "line", shape: { x1, y1: y - 11, x2, y2: y - 11 }, style }] };
    },
  };
}

function told(view: BarsView, row: Row | undefined, canvas: Canvas): string {
  const bar = row?.bar;
  if (bar === undefined) return "";
  const lines = [runStyle(canvas, bar.run).label, `${number(bar.value, view.axis.quantity)} ${bar.note}`];
  if (bar.low !== undefined && bar.high !== undefined) {
    lines.push(`intervals: ${number(bar.low, view.axis.quantity)} to ${number(bar.high, view.axis.quantity)}`);
  }
  return lines.map(escaped).join("<br>");
}
