/** A map of cells: block sizes down, R/W mixes across, each with its value printed; colour goes with the logarithm. */

import { type Canvas, type Option, runStyle } from "./draw";
import { number } from "./numbers";
import type { HeatChart, HeatView } from "./spec";
import { base, escaped } from "./theme";

/** Viridis at nine even steps: even in lightness, and told apart by readers who do not see all colours. */
const VIRIDIS = ["#440154", "#472d7b", "#3b528b", "#2c728e", "#21918c", "#28ae80", "#5ec962", "#addc30", "#fde725"];
const ROW = 34;
const NARROW = 560;
/** From here on the colour is so light that dark letters stand out. */
const LIGHT = 0.55;

interface Datum {
  value: [number, number];
  shown: number | undefined;
  text: string;
  told: string;
}

/** Height of the rows, in pixels. */
export function heatHeight(chart: HeatChart): number {
  return 76 + chart.rows.length * ROW;
}

export function heat(chart: HeatChart, view: HeatView, canvas: Canvas): Option {
  const { theme } = canvas;
  const common = base(theme);
  const label = { color: theme.text, fontSize: 12, interval: 0 };
  const plain = { axisTick: { show: false }, axisLine: { show: false }, splitLine: { show: false } };
  const title = { nameTextStyle: { color: theme.muted, fontSize: 12 } };
  return {
    ...common,
    tooltip: { ...(common["tooltip"] as Option), formatter: ({ data }: { data: Datum }) => data.told },
    grid: { left: 8, right: 12, top: 28, bottom: 40, outerBoundsMode: "same", outerBoundsContain: "axisLabel" },
    xAxis: { type: "category", data: chart.columns, name: chart.across, nameLocation: "middle", nameGap: 30, ...title, axisLabel: label, ...plain },
    yAxis: { type: "category", data: chart.rows, inverse: true, name: view.title, nameLocation: "start", nameGap: 12, nameMoveOverlap: false, nameTextStyle: { ...title.nameTextStyle, align: "left" }, axisLabel: label, ...plain },
    series: [cells(chart, view, canvas)],
  };
}

function cells(chart: HeatChart, view: HeatView, canvas: Canvas): Option {
  const { theme, width } = canvas;
  const data = view.values.flatMap((row, y) => row.map((value, x) => datum(chart, view, canvas, x, y, value ?? undefined)));
  return {
    type: "custom",
    data,
    z: 2,
    renderItem: (hit: { dataIndex: number }, api: { coord(at: number[]): [number, number]; size(of: number[]): [number, number] }) => {
      const one = data[hit.dataIndex];
      if (one === undefined) return undefined;
      const [x, y] = api.coord(one.value);
      const [w, h] = api.size([1, 1]);
      const share = one.shown === undefined ? undefined : shareOf(view, one.value[1], one.shown);
      return {
        type: "rect",
        shape: { x: x - w / 2 + 1, y: y - h / 2 + 1, width: w - 2, height: h - 2 },
        style: { fill: share === undefined ? theme.grid : colourAt(share) },
        textContent: {
          style: {
            text: one.text,
            fill: share === undefined ? theme.muted : share > LIGHT ? "#10181c" : "#ffffff",
            font: `${width < NARROW ? 10 : 13}px ${theme.font}`,
          },
        },
        textConfig: { position: "inside" },
      };
    },
  };
}

function datum(chart: HeatChart, view: HeatView, canvas: Canvas, x: number, y: number, shown: number | undefined): Datum {
  const text = shown === undefined ? "—" : cellWords(view, x, y, shown);
  const value = shown === undefined ? (view.absent ?? "not measured") : `${view.title}: ${text}`;
  const lines = [runStyle(canvas, view.run).label, `${chart.columns[x] ?? ""}, ${chart.rows[y] ?? ""}`, value];
  return { value: [x, y], shown, text, told: lines.map(escaped).join("<br>") };
}

/** A value as its cell shows it, a lower bound as such. */
function cellWords(view: HeatView, x: number, y: number, value: number): string {
  return `${view.bounds?.[y]?.[x] ? "≥ " : ""}${number(value, view.quantity)}`;
}

/** Place of a value between the ends of its row's scale, by its logarithm; the better end is the light one. */
function shareOf(view: HeatView, row: number, value: number): number {
  const [low, high] = (view.row_ranges?.[row] ?? view.range).map(Math.log) as [number, number];
  if (high <= low) return 1;
  const share = (Math.log(value) - low) / (high - low);
  return Math.min(1, Math.max(0, view.better === "higher" ? share : 1 - share));
}

function colourAt(share: number): string {
  const place = share * (VIRIDIS.length - 1);
  const below = Math.min(Math.floor(place), VIRIDIS.length - 2);
  const parts = (at: number) => [1, 3, 5].map((from) => parseInt((VIRIDIS[at] ?? "#000000").slice(from, from + 2), 16));
  const [from, to] = [parts(below), parts(below + 1)];
  const mixed = from.map((part, at) => Math.round(part + ((to[at] ?? part) - part) * (place - below)));
  return `rgb(${mixed.join(",")})`;
}
