/** Colours of the page, read from its style sheet so that light, dark and print need no second list. */

import type { Line, RunStyle, Shape } from "./spec";

export interface Theme {
  text: string;
  muted: string;
  rule: string;
  grid: string;
  paper: string;
  font: string;
  palette: string[];
}

/** The theme in force now. */
export function readTheme(): Theme {
  const style = getComputedStyle(document.documentElement);
  const variable = (name: string) => style.getPropertyValue(name).trim();
  return {
    text: variable("--text"),
    muted: variable("--muted"),
    rule: variable("--rule"),
    grid: variable("--grid"),
    paper: variable("--paper"),
    font: getComputedStyle(document.body).fontFamily,
    palette: [0, 1, 2, 3, 4, 5, 6, 7].map((index) => variable(`--drive-${index}`)),
  };
}

export function colourOf(run: RunStyle, theme: Theme): string {
  return theme.palette[run.colour % theme.palette.length] ?? theme.text;
}

const MARKERS: Shape[] = ["circle", "rect", "triangle", "diamond"];

/**
 * The look of one of several lines of a run: the first is the run's own; of eight, no two have a colour in common, and none has
 * colour and marker of another run of the page.
 */
export function tinted(run: RunStyle, tint: number, runs: readonly RunStyle[]): RunStyle {
  if (tint === 0) return run;
  const colour = (run.colour + 3 * tint) % 8;
  const taken = runs.filter((other) => other.colour === colour).map(({ shape }) => shape);
  const first = MARKERS.indexOf(run.shape) + tint;
  const turned = MARKERS.map((_, by) => MARKERS[(first + by) % MARKERS.length] ?? run.shape);
  return { ...run, shape: turned.find((shape) => !taken.includes(shape)) ?? run.shape, colour };
}

/** Marker of a run: filled, or an outline for a second run of the same drive. */
export function marker(run: RunStyle, theme: Theme): { symbol: string; itemStyle: Record<string, unknown> } {
  const colour = colourOf(run, theme);
  return {
    symbol: run.shape,
    itemStyle: run.hollow ? { color: theme.paper, borderColor: colour, borderWidth: 2 } : { color: colour },
  };
}

/** Reads are solid and writes dashed everywhere; dots are left for a second run of the same drive. */
export function stroke(line: Pick<Line, "dashed">, run: RunStyle, theme: Theme): Record<string, unknown> {
  const type = line.dashed ? [6, 4] : run.hollow ? [2, 3] : "solid";
  return { color: colourOf(run, theme), width: 2, type };
}

/** What every chart shares: no animation, the page's font, a plain tooltip. */
export function base(theme: Theme): Record<string, unknown> {
  return {
    animation: false,
    textStyle: { fontFamily: theme.font, color: theme.text },
    tooltip: {
      trigger: "item",
      transitionDuration: 0,
      backgroundColor: theme.paper,
      borderColor: theme.rule,
      borderWidth: 1,
      padding: [6, 10],
      textStyle: { color: theme.text, fontSize: 13 },
      extraCssText: "box-shadow:none;border-radius:3px",
      confine: true,
    },
  };
}

/** Pixels of paper around a text that lines must not strike through. */
export const PLATE = 2;

/** What such a text stands on: a line behind it is broken there. */
export function plate(theme: Theme): Record<string, unknown> {
  return { backgroundColor: theme.paper, padding: [0, PLATE] };
}

/** The name of a line at its end. */
export function named(name: string, theme: Theme): Record<string, unknown> {
  return { show: name !== "", formatter: name, color: theme.muted, fontSize: 12, distance: 6 };
}

const ESCAPES: Record<string, string> = { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;", "'": "&#39;" };

/** Text for a tooltip, which ECharts sets as HTML: drive names come from outside. */
export function escaped(text: string): string {
  return text.replace(/[&<>"']/g, (character) => ESCAPES[character] ?? "");
}
