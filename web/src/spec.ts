/** What the Python side asks to be drawn. The same shapes are built by `ssdlab/report/charts.py`. */

export type Quantity = "iops" | "mb_s" | "ns" | "s" | "bytes" | "capacity" | "count" | "plain" | "text";

/** One run as it appears in every chart: the colour belongs to the drive, the outline to the variant of the run. */
export interface RunStyle {
  label: string;
  /** Index into the palette. */
  colour: number;
  shape: "circle" | "rect" | "triangle" | "diamond";
  /** Drawn hollow and dotted: a second run of a drive that already has the filled marker. */
  hollow: boolean;
}

export interface Axis {
  title: string;
  quantity: Quantity;
  scale: "linear" | "log" | "nines";
  /** Fixed ticks: where, and what stands there. Without them 1-2-5 steps (log) or round steps (linear) are used. */
  ticks?: [number, string][];
  /**
   * Values that it reaches from and to in every view, so that switching compares; else those drawn. A linear axis begins at zero
   * unless the first is greater.
   */
  range?: [number, number];
}

export interface Point {
  x: number;
  y: number;
  /** Slowest and fastest interval: drawn as a band. */
  low?: number;
  high?: number;
  label?: string;
  /** Ringed: the point that the method reports. */
  chosen?: boolean;
  /** Crossed: the host, not the drive, was the limit here. */
  host?: boolean;
  /** On the line, but without a marker. */
  quiet?: boolean;
}

export interface Line {
  run: number;
  name: string;
  dashed: boolean;
  points: Point[];
  /** Second to another line of the same run. */
  faint?: boolean;
  /** In the colour of the text: what the other lines of the run are held against. */
  plain?: boolean;
}

/** A level drawn across the plot, such as 95 % of the best. */
export interface Rule {
  run: number;
  y: number;
  text: string;
}

export interface XyView {
  label: string;
  x: Axis;
  y: Axis;
  lines: Line[];
  rules: Rule[];
}

export interface XyChart {
  kind: "xy";
  views: XyView[];
}

export interface Bar {
  run: number;
  value: number;
  low?: number;
  high?: number;
  /** Printed after the value, such as the queue depth of the point. */
  note: string;
}

export interface BarsView {
  label: string;
  axis: Axis;
  better: "higher" | "lower";
  groups: { name: string; bars: Bar[] }[];
}

export interface BarsChart {
  kind: "bars";
  views: BarsView[];
}

/** Several figures of one run on one log axis, e.g. mean, p99 and p99.99 latency. */
export interface MarksChart {
  kind: "marks";
  axis: Axis;
  views: MarksView[];
}

export interface MarksView {
  label: string;
  rows: { run: number; name: string; note: string; marks: { name: string; value: number }[] }[];
}

/** The interval rows of one step, stream and direction; columns are packed by `ssdlab/report/packing.py`. */
export interface Track {
  run: number;
  name: string;
  dashed: boolean;
  /** `end_s` (of each row) and one column for each measure; `unit` is what a stored whole number stands for. */
  columns: { key: string; packed: string; unit: number }[];
}

export interface SeriesChart {
  kind: "series";
  /** With `pauses`, intervals of zero were asked for, and are no stalls to be marked. */
  measures: { key: string; label: string; axis: Axis; pauses?: boolean }[];
  /** By view, then by variant; without tracks, `absent` says why. */
  choices: { label: string; tracks: Track[]; absent?: string }[];
  /** Choices of each view. */
  variants: number;
  /** Seconds that are shown, the same for every choice; else from 0 to the end of what is shown. */
  window_s?: [number, number];
}

/** Cells in rows and columns, e.g. block sizes and R/W mixes, each with its value. */
export interface HeatChart {
  kind: "heat";
  /** Titles of columns and rows, and what stands across. */
  columns: string[];
  rows: string[];
  across: string;
  views: HeatView[];
}

export interface HeatView {
  label: string;
  run: number;
  title: string;
  quantity: Quantity;
  /** By row, then by column; none where it was not measured, and why. */
  values: (number | null)[][];
  absent?: string;
  /** Ends of the colour scale, the same in all views of one quantity, so that switching compares. */
  range: [number, number];
  better: "higher" | "lower";
}

export type Chart = XyChart | BarsChart | MarksChart | SeriesChart | HeatChart;

export interface Page {
  title: string;
  footer: string;
  runs: RunStyle[];
  charts: Record<string, Chart>;
}
