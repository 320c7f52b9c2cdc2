/** What the Python side asks to be drawn. Made by `scripts/chart_spec.py` from `ssdlab/report/charts.py`. */

export type Quantity = "iops" | "mb_s" | "ns" | "s" | "bytes" | "capacity" | "count" | "plain" | "text";
export type Scale = "linear" | "log" | "nines";
export type Shape = "circle" | "rect" | "triangle" | "diamond";
export type Chart = XyChart | BarsChart | MarksChart | SeriesChart | TimelineChart | HeatChart;

/** Appearance of a run in every chart. The colour belongs to the drive and does not depend on its rank. */
export interface RunStyle {
  label: string;
  /** The label without the words that all labels of the page share; different labels stay different. */
  short: string;
  /** Index into the palette. */
  colour: number;
  shape: Shape;
  /** Whether the marker is hollow and the line dotted: a second run of a drive that already has the filled marker. */
  hollow: boolean;
  interface?: string;
  /** Throughput of the interface in one direction. */
  link_mb_s?: number;
}

/** One axis; without `ticks` the front end chooses 1-2-5 steps (log) or round steps (linear). */
export interface Axis {
  title: string;
  quantity: Quantity;
  scale: Scale;
  ticks?: [number, string][];
  /**
   * First and last value in every view, so that views can be compared; None: the range of the drawn values. A linear axis starts
   * at zero unless the first value is greater.
   */
  range?: [number, number];
}

/** One point of a line. */
export interface Dot {
  x: number;
  y: number;
  /** Value of the slowest interval; `high` is that of the fastest. Both bound a band. */
  low?: number;
  high?: number;
  label?: string;
  /** Whether it is the point that the method reports; drawn with a ring. */
  chosen?: boolean;
  /** Whether the host, not the drive, limited this point; drawn with a cross. */
  host?: boolean;
  /** Whether the drive failed what was asked of it here, such as a rate; drawn with a cross. */
  failed?: boolean;
  /** Whether the point is on the line but has no marker. */
  quiet?: boolean;
  /** Whether its figure is not ranked; the marker is hollow. */
  unproven?: boolean;
}

/** A line of one run: solid for reads, dashed for writes. Its name, if any, is printed at its end. */
export interface Line {
  run: number;
  name: string;
  dashed: boolean;
  points: Dot[];
  /** Whether it is secondary to another line of the same run, such as service time to response time. */
  faint?: boolean;
  /** Whether it is drawn in the text colour, as the reference for the run's other lines. */
  plain?: boolean;
  /** For a line without markers: whether its figure is not ranked. It is drawn thin, as is a line with only hollow markers. */
  unproven?: boolean;
}

/** A horizontal line across the plot, such as 95 % of the best. */
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

/** One bar; `note` is printed after the value. */
export interface Bar {
  run: number;
  value: number;
  note: string;
  low?: number;
  high?: number;
  /** The drive's rating, drawn as a tick across the bar. */
  rated?: number;
  /** Whether the bar is not ranked; it is grey and follows the ranked bars. */
  unranked?: boolean;
  /** Whether its value is not shown; the row has only the note. */
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

/** Several figures of each run on one axis, such as mean, p99 and p99.99. */
export interface MarksChart {
  axis: Axis;
  views: MarksView[];
  kind: "marks";
}

/** A column of a time series, packed by `pack`. */
export interface PackedColumn {
  /** `end_s` (end of each row), or the key of a measure. */
  key: string;
  packed: string;
  /** Value of 1 in the stored whole numbers. */
  unit: number;
}

/** First row of a step in a track of several steps. */
export interface Part {
  row: number;
  name: string;
}

/** The interval rows of one step, stream and direction; in a time line, one figure over all steps. */
export interface Track {
  run: number;
  name: string;
  dashed: boolean;
  columns: PackedColumn[];
  /** The steps of a time line, in order. */
  parts?: Part[];
}

/** A quantity that a time series can show, with the key of its column. */
export interface Measure {
  key: string;
  label: string;
  axis: Axis;
  /** Whether intervals of zero are intended; they are then not marked as stalls. */
  pauses?: boolean;
}

/** An event in a time line: a period is drawn as a shaded area, a moment as a line. */
export interface Spell {
  from_s: number;
  text: string;
  /** End of the period; None for a moment. */
  until_s?: number;
}

/** The tracks that a button shows together. */
export interface Choice {
  label: string;
  tracks: Track[];
  /** Why there are no tracks. */
  absent?: string;
  /** Events of the drive during the tracks. */
  spells?: Spell[];
  /** Indices of other choices whose tracks this one also shows; the page stores each track once. */
  of?: number[];
  /** Whether each run has its own plot, all with the same axes. */
  beside?: boolean;
}

/** Interval rows over time, for a point chosen by buttons. */
export interface SeriesChart {
  measures: Measure[];
  choices: Choice[];
  /** Number of variants of each view, chosen by a second group of buttons. Choices are ordered by view, then by variant. */
  variants: number;
  /** Seconds shown, the same for every choice; None: from 0 to the end of the tracks. */
  window_s?: [number, number];
  kind: "series";
}

/** The time line of one run; a button chooses the run. */
export interface TimelineView {
  label: string;
  /** One track for each figure; a track is drawn in the panel with the key of its column. */
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
  /** Values by row, then by column; None if not measured. */
  values: ((number | null)[])[];
  /** Ends of the colour scale, the same in all views of one quantity, so that views can be compared. */
  range: [number, number];
  better: "higher" | "lower";
  /** Why cells have no value. */
  absent?: string;
  /** Ends of a colour scale for each row; None: that of `range` for all. */
  row_ranges?: [number, number][];
  /** Which values, by row and column, are lower bounds: shown with `≥`. None: none is. */
  bounds?: boolean[][];
}

/** Cells in rows and columns, each with its value; the colour depends on the logarithm of the value. */
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
  /**
   * Runs that the note is about: their names get its mark, and a view without these runs omits it. Empty: the note is about the
   * whole picture.
   */
  runs: number[];
  text: string;
}

/** The text of a picture that draws only these runs of its figure. */
export interface HeadPart {
  runs: number[];
  facts: string[];
  footer: string;
}

/** The text that makes a picture understandable without its page. */
export interface Head {
  /** A title that needs no context: what was measured, and what is shown. */
  title: string;
  /** Method, block sizes and depth, and whether runs are quick or simulated. */
  facts: string[];
  /** Version, dates and runs. */
  footer: string;
  /** Qualifiers of the drawn figures, and which runs are left out and why. */
  notes: HeadNote[];
  /** Facts and footer of views that draw only some of the runs. */
  parts: HeadPart[];
}

/** All data that a page passes to the front end. */
export interface Page {
  title: string;
  runs: RunStyle[];
  /** Heads by the id of their figure. */
  heads: Record<string, Head>;
  /** Charts by the id of their figure. */
  charts: Record<string, Chart>;
  /** Width and height of a saved picture, in pixels. */
  saved: [number, number];
}
