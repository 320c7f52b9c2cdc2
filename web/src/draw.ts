/** What drawing a chart takes and gives. */

import type { Bar, RunStyle } from "./spec";
import type { Theme } from "./theme";

export interface Canvas {
  runs: RunStyle[];
  theme: Theme;
  width: number;
  height: number;
  /** Whether rows share out all of the height: in a picture; in the page they keep theirs. */
  filled?: boolean;
}

export type Option = Record<string, unknown>;

/** ECharts' interface of a series that draws its own shapes. */
export interface Api {
  value(index: number): number;
  coord(at: number[]): [number, number];
  size(of: number[]): [number, number];
}

/** A row of a bar chart: a heading, or a bar with its label. */
export interface BarRow {
  label: string;
  group: string;
  bar: Bar | undefined;
}

/** The style of one run; a chart that names an unknown run is a fault of the page's maker, drawn plainly rather than not at all. */
export function runStyle(canvas: Pick<Canvas, "runs">, index: number): RunStyle {
  return canvas.runs[index] ?? { label: "", short: "", colour: 0, shape: "circle", hollow: false };
}
