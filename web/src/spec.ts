/** What the Python side asks to be drawn. Made by `scripts/chart_spec.py` from `ssdlab/report/charts.py`. */

export type Quantity = "iops" | "mb_s" | "ns" | "s" | "bytes" | "capacity" | "count" | "plain" | "text";
export type Scale = "linear" | "log" | "nines";
export type Shape = "circle" | "rect" | "triangle" | "diamond";
export type Chart = XyChart | BarsChart | MarksChart | SeriesChart | TimelineChart | HeatChart;

/** How one run looks in every chart: the colour belongs to the drive, never to its rank. */
export interface RunStyle {
  label: string;
  /** The label without what all labels of the page have in common; as different as the label. */
  short: string;
  /** Index into the palette. */
  colour: number;
  shape: Shape;
  /** Drawn hollow and dotted: a second run of a drive that already has the filled marker. */
  hollow: boolean;
  /** What the drive is reached by, in words. */
  interface?: string;
  /** What that carries in one direction. */
  link_mb_s?: number;
}

/** One axis; without `ticks` the front end sets 1-2-5 steps (log) or round ones (linear). */
export interface Axis {
  title: string;
  quantity: Quantity;
  scale: Scale;
  /** Where, and what stands there. */
  ticks?: [number, string][];
  /**
   * Values that it reaches from and to in every view, so that switching compares; None: those drawn. A linear axis begins at zero
   * unless the first is greater.
   */
  range?: [number, number];
}

/** One point of a line. */
export interface Dot {
  x: number;
  y: number;
  /** Slowest interval, as `high` is the fastest: drawn as a band. */
  low?: number;
  high?: number;
  label?: string;
  /** Ringed: the point that the method reports. */
  chosen?: boolean;
  /** Crossed: the host, not the drive, was the limit here. */
  host?: boolean;
  /** On the line, but without a marker. */
  quiet?: boolean;
  /** Its figure has no rank: its marker is hollow. */
  unproven?: boolean;
}

/** A line of one run; reads are solid, writes dashed; its name, if any, stands at its end. */
export interface Line {
  run: number;
  name: string;
  dashed: boolean;
  points: Dot[];
  /** Second to another line of the same run: service time beside response time. */
  faint?: boolean;
  /** In the colour of the text: what the other lines of the run are compared with. */
  plain?: boolean;
  /** Of a line without markers: its figure has no rank. It is thin, as is one of which all are hollow. */
  unproven?: boolean;
}

/** A level across the plot, such as 95 % of the best. */
export interface Rule {
  run: number;
  y: number;
  text: string;
}

/** A line up through the plot, such as the depth beyond which I/Os wait in the host. */
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
  /** What the drive is rated for: a tick across the bar. */
  rated?: number;
  /** Drawn grey, behind those that are ranked. */
  unranked?: boolean;
  /** It has no value: its row has the note alone. */
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
  /** `end_s` (of each row), or that of a measure. */
  key: string;
  packed: string;
  /** What a stored whole number stands for. */
  unit: number;
}

/** Where the rows of a step begin in a track of several. */
export interface Part {
  row: number;
  name: string;
}

/** The interval rows of one step, stream and direction; on a time line one figure of all steps. */
export interface Track {
  run: number;
  name: string;
  dashed: boolean;
  columns: PackedColumn[];
  /** The steps of a time line, in order. */
  parts?: Part[];
}

/** What a time series can show, by the key of its column. */
export interface Measure {
  key: string;
  label: string;
  axis: Axis;
  /** Intervals of zero were asked for, and are no stalls to be marked. */
  pauses?: boolean;
}

/** Something that happened on a time line: a stretch, which is shaded, or a moment, which is a line. */
export interface Spell {
  from_s: number;
  text: string;
  /** None: a moment. */
  until_s?: number;
}

/** The tracks shown together when a button is pressed. */
export interface Choice {
  label: string;
  tracks: Track[];
  /** Why there is none. */
  absent?: string;
  /** What happened to the drive meanwhile. */
  spells?: Spell[];
  /** Places of other choices whose tracks it shows together: the page holds each once. */
  of?: number[];
  /** Each run has a plot of its own, beside the others, on common axes. */
  beside?: boolean;
}

/** Interval rows over time, for a point chosen by buttons. */
export interface SeriesChart {
  measures: Measure[];
  choices: Choice[];
  /** Choices of each view, where a second group of buttons chooses among them: by view, then by variant. */
  variants: number;
  /** Seconds that are shown, the same for every choice; None: from 0 to the end of what is shown. */
  window_s?: [number, number];
  kind: "series";
}

/** One run on its time line; a button chooses among runs. */
export interface TimelineView {
  label: string;
  /** Of each figure one: it stands in the panel whose column it has. */
  tracks: Track[];
  spells: Spell[];
}

/** Several figures of one run below one another, over one time. */
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
  /** Ends of the colour scale, the same in all views of one quantity, so that switching compares. */
  range: [number, number];
  better: "higher" | "lower";
  /** Why cells have no value. */
  absent?: string;
}

/** Cells in rows and columns, each with its value; colour goes with the logarithm. */
export interface HeatChart {
  rows: string[];
  columns: string[];
  /** What stands over the columns. */
  across: string;
  views: HeatView[];
  kind: "heat";
}

/** What is to be minded of a picture. */
export interface HeadNote {
  /**
   * Those that it is of: their names get its mark, and a view that draws none of them is without it. Of none, it is of the
   * picture.
   */
  runs: number[];
  text: string;
}

/** What a picture says where it draws these runs alone of those of its figure. */
export interface HeadPart {
  runs: number[];
  facts: string[];
  footer: string;
}

/** What makes a picture complete in itself. */
export interface Head {
  /** Stands alone: what was measured, and what is shown of it. */
  title: string;
  /** Method, blocks, depth, and whether quick or simulated. */
  facts: string[];
  /** Version, dates and runs. */
  footer: string;
  /** What the page says beside the figures of the runs that are drawn, and who is left out and why. */
  notes: HeadNote[];
  /** Of views that draw some of the runs: their own facts and footer. */
  parts: HeadPart[];
}

/** All that a page hands to the front end. */
export interface Page {
  title: string;
  runs: RunStyle[];
  /** By the id of their figure. */
  heads: Record<string, Head>;
  /** By the id of their figure. */
  charts: Record<string, Chart>;
  /** Width and height in pixels of a picture that is saved. */
  saved: [number, number];
}
