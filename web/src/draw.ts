/** The functions that the page calls for each kind of chart. */

import type { RunStyle } from "./spec";
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

/** The style of one run; a chart that names an unknown run is a fault of the page's maker, drawn plainly rather than not at all. */
export function runStyle(canvas: Pick<Canvas, "runs">, index: number): RunStyle {
  return canvas.runs[index] ?? { label: "", short: "", colour: 0, shape: "circle", hollow: false };
}
