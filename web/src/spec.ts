/** What the Python side asks to be drawn. Made by `scripts/chart_spec.py` from `ssdlab/report/charts.py`. */

export type Quantity = "iops" | "mb_s" | "ns" | "s" | "bytes" | "capacity" | "count" | "plain" | "text";
export type Scale = "linear" | "log" | "nines";
export type Shape = "circle" | "rect" | "triangle" | "diamond";
export type Chart = XyChart | BarsChart | MarksChart | SeriesChart | TimelineChart | HeatChart;

/** How one run looks in every chart: the colour belongs to the drive, never to its rank. */
export interface RunStyle {
  label: string;
  /** The label without what all labels of the page share; still unique. */
  short: string;
  /** Index into the palette. */
  colour: number;
  shape: Shape;
  /** Drawn hollow and dotted: a second run of a drive that already has the filled marker. */
  hollow: boolean;
  /** Interface of the drive, in words. */
  interface?: string;
  /** Throughput of the interface in one direction. */
  link_mb_s?: number;
}

/** One axis; without `ticks` the front end sets 1-2-5 steps (log) or round ones (linear). */
export interface Axis {
  title: string;
  quantity: Quantity;
  scale: Scale;
  /** Positions and labels. */
  ticks?: [number, string][];
  /**
   * First and last value in every view, so that views compare; None: of the drawn values. A linear axis starts at zero unless the
   * first value is greater.
   */
  range?: [number, number];
}

/** One point of a line. */
export interface Dot {
  x: number;
  y: number;
  /** Slowest interval; `high` is the fastest. Both are drawn as a band. */
  low?: number;
  high?: number;
  label?: string;
  /** Ringed: the point that the method reports. */
  chosen?: boolean;
  /** Crossed: the host, not the drive, was the limit here. */
  host?: boolean;
  /** On the line, but without a marker. */
  quiet?: boolean;
  /** Its figure is not ranked: its marker is hollow. */
  unproven?: boolean;
}

/** A line of one run: solid for reads, dashed for writes, with its name, if any, at the end. */
export interface Line {
  run: number;
  name: string;
  dashed: boolean;
  points: Dot[];
  /** Secondary to another line of the same run, such as service time to response time. */
  faint?: boolean;
  /** Drawn in the text colour: the reference for the other lines of the run. */
  plain?: boolean;
  /** For a line without markers: its figure is not ranked. It is drawn thin, as is a line with only hollow markers. */
  unproven?: boolean;
}

/** A level across the plot, such as 95 % of the best. */
export interface Rule {
  run: number;
  y: number;
  text: string;
}

/** A vertical line, such as the depth beyond which I/Os wait in the host. */
export interface Upright {
  x: number;
  text: string;
}

/** One view of a chart of lines; a button switches between views. */
export interface XyView {
  label: string;
  x: Axis;
  y: Axis;
  lines: Line[];
  rules: Rule[];
  uprights: Upright[];
}

/** Lines over two axes. */
export interface XyChart {
  views: XyView[];
  kind: "xy";
}

/** One bar; `note` is printed behind the value. */
export interface Bar {
  run: number;
  value: number;
  note: string;
  low?: number;
  high?: number;
  /** The drive's rating: a tick across the bar. */
  rated?: number;
  /** Drawn grey, after the ranked ones. */
  unranked?: boolean;
  /** It has no value: its row shows only the note. */
  withheld?: boolean;
}

/** Bars of the same workload, one for each run. */
export interface BarGroup {
  name: string;
  bars: Bar[];
}

/** One view of a bar chart. */
export interface BarsView {
  label: string;
  axis: Axis;
  better: "higher" | "lower";
  groups: BarGroup[];
}

/** Horizontal bars from zero. */
export interface BarsChart {
  views: BarsView[];
  kind: "bars";
}

/** One figure on a row of marks. */
export interface Mark {
  name: string;
  value: number;
}

/** The figures of one run and workload on one line. */
export interface MarksRow {
  run: number;
  name: string;
  note: string;
  marks: Mark[];
}

/** One view of a chart of marks. */
export interface MarksView {
  label: string;
  rows: MarksRow[];
}

/** Several figures of each run on one axis: mean, p99 and p99.99. */
export interface MarksChart {
  axis: Axis;
  views: MarksView[];
  kind: "marks";
}

/** A column of a time series, packed by `pack`. */
export interface PackedColumn {
  /** `end_s` (of each row), or the key of a measure. */
  key: string;
  packed: string;
  /** Unit of a stored whole number. */
  unit: number;
}

/** Where the rows of a step start in a track of several steps. */
export interface Part {
  row: number;
  name: string;
}

/** The interval rows of one step, stream and direction; on a time line, one figure over all steps. */
export interface Track {
  run: number;
  name: string;
  dashed: boolean;
  columns: PackedColumn[];
  /** The steps of a time line, in order. */
  parts?: Part[];
}

/** A quantity that a time series can show, by the key of its column. */
export interface Measure {
  key: string;
  label: string;
  axis: Axis;
  /** Intervals of zero are intended, and not marked as stalls. */
  pauses?: boolean;
}

/** An event on a time line: a period is shaded, a moment is a line. */
export interface Spell {
  from_s: number;
  text: string;
  /** None: a moment. */
  until_s?: number;
}

/** The tracks that a button shows together. */
export interface Choice {
  label: string;
  tracks: Track[];
  /** Why there is none. */
  absent?: string;
  /** Events of the drive meanwhile. */
  spells?: Spell[];
  /** Indexes of other choices whose tracks it shows together; the page holds each track once. */
  of?: number[];
  /** Each run has its own plot, all with the same axes. */
  beside?: boolean;
}

/** Interval rows over time, for a point chosen by buttons. */
export interface SeriesChart {
  measures: Measure[];
  choices: Choice[];
  /** Choices of each view where a second group of buttons selects one: by view, then by variant. */
  variants: number;
  /** Seconds shown, the same for every choice; None: from 0 to the end of the tracks. */
  window_s?: [number, number];
  kind: "series";
}

/** One run on its time line; a button chooses among runs. */
export interface TimelineView {
  label: string;
  /** One for each figure, in the panel with its column. */
  tracks: Track[];
  spells: Spell[];
}

/** Several figures of one run, stacked over one time axis. */
export interface TimelineChart {
  panels: Measure[];
  views: TimelineView[];
  kind: "timeline";
}

/** One figure of a run, for every cell. */
export interface HeatView {
  label: string;
  run: number;
  title: string;
  quantity: Quantity;
  /** By row, then by column; None where it was not measured. */
  values: ((number | null)[])[];
  /** Ends of the colour scale, the same in all views of one quantity, so that views compare. */
  range: [number, number];
  better: "higher" | "lower";
  /** Why cells have no value. */
  absent?: string;
}

/** Cells in rows and columns, each with its value; the colour follows the logarithm. */
export interface HeatChart {
  rows: string[];
  columns: string[];
  /** Heading over the columns. */
  across: string;
  views: HeatView[];
  kind: "heat";
}

/** A note on a picture. */
export interface HeadNote {
  /** Runs that it is about: their names get its mark, and a view without them omits it. Empty: it is about the whole picture. */
  runs: number[];
  text: string;
}

/** The text of a picture that draws only these runs of its figure. */
export interface HeadPart {
  runs: number[];
  facts: string[];
  footer: string;
}

/** The text that makes a picture self-contained. */
export interface Head {
  /** A title that needs no context: what was measured, and what is shown. */
  title: string;
  /** Method, blocks, depth, and whether quick or simulated. */
  facts: string[];
  /** Version, dates and runs. */
  footer: string;
  /** The page's qualifiers of the drawn figures, and which runs are left out and why. */
  notes: HeadNote[];
  /** Own facts and footer of views that draw only some of the runs. */
  parts: HeadPart[];
}

/** All data that a page passes to the front end. */
export interface Page {
  title: string;
  runs: RunStyle[];
  /** By the id of their figure. */
  heads: Record<string, Head>;
  /** By the id of their figure. */
  charts: Record<string, Chart>;
  /** Width and height of a saved picture, in pixels. */
  saved: [number, number];
}
