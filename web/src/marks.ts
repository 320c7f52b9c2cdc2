/** Quality-of-service marks: mean, p99 and p99.99 of each run on one logarithmic latency axis. */

import { axisOption, place } from "./axes";
import { type Canvas, type Option, runStyle } from "./draw";
import { number } from "./numbers";
import type { MarksChart } from "./spec";
import { base, colourOf, escaped } from "./theme";

/** Pixels that the rows want. */
export function marksHeight(chart: MarksChart): number {
  return 64 + chart.rows.length * 52;
}

export function marks(chart: MarksChart, canvas: Canvas): Option {
  const { theme, width } = canvas;
  const values = chart.rows.flatMap((row) => row.marks.map(({ value }) => value));
  const common = base(theme);
  const xAxis = axisOption(chart.axis, { theme, side: "x", values, length: width });
  return {
    ...common,
    tooltip: {
      ...(common["tooltip"] as Option),
      formatter: ({ data }: { data: { told: string } }) => data.told,
    },
    grid: { left: 8, right: 40, top: 8, bottom: 40, outerBoundsMode: "same", outerBoundsContain: "axisLabel" },
    xAxis,
    yAxis: {
      type: "category",
      inverse: true,
      data: chart.rows.map(({ name, note }) => (note === "" ? name : `${name}\n{note|${note}}`)),
      axisLine: { lineStyle: { color: theme.rule } },
      axisTick: { show: false },
      axisLabel: {
        color: theme.text,
        fontSize: 13,
        lineHeight: 17,
        interval: 0,
        width: Math.min(220, width * 0.34),
        overflow: "truncate",
        rich: { note: { color: theme.muted, fontSize: 12 } },
      },
    },
    series: [...chart.rows.map((_, at) => span(chart, at, canvas)), ...chart.rows.map((_, at) => dots(chart, at, canvas))],
  };
}

/** The line from the first to the last mark of a row. */
function span(chart: MarksChart, at: number, canvas: Canvas): Option {
  const row = chart.rows[at];
  const places = row?.marks.map(({ value }) => place(chart.axis, value)) ?? [];
  return {
    type: "line",
    silent: true,
    showSymbol: false,
    data: [Math.min(...places), Math.max(...places)].map((x) => [x, at]),
    lineStyle: { color: colourOf(runStyle(canvas, row?.run ?? 0), canvas.theme), width: 2, opacity: 0.45 },
    z: 2,
  };
}

const SHAPES = ["circle", "diamond", "triangle"];

function dots(chart: MarksChart, at: number, canvas: Canvas): Option {
  const row = chart.rows[at];
  const run = runStyle(canvas, row?.run ?? 0);
  const colour = colourOf(run, canvas.theme);
  const style = run.hollow ? { color: canvas.theme.paper, borderColor: colour, borderWidth: 2 } : { color: colour };
  const data = (row?.marks ?? []).map(({ name, value }, index) => ({
    value: [place(chart.axis, value), at],
    symbol: SHAPES[index % SHAPES.length],
    label: { position: index % 2 === 0 ? "top" : "bottom", formatter: `${name} ${number(value, chart.axis.quantity)}` },
    told: [`${run.label} · ${row?.name ?? ""}`, `${name}: ${number(value, chart.axis.quantity)}`].map(escaped).join("<br>"),
  }));
  return {
    type: "scatter",
    data,
    symbolSize: 11,
    itemStyle: style,
    emphasis: { disabled: true },
    label: { show: true, distance: 4, color: canvas.theme.text, textBorderColor: canvas.theme.paper, textBorderWidth: 3, fontSize: 12 },
    z: 3,
  };
}
