/** Colours of the page, read from its style sheet so that light, dark and print need no second list. */

import type { Line, RunStyle, Shape } from "./spec";

export interface Theme {
  text: string;
  muted: string;
  rule: string;
  grid: string;
  paper: string;
  font: string;
  headings: string;
  /** As many as there are: of fewer than eight the next drive has the first again, with another marker. */
  palette: string[];
  /** Height of a curve in the page, in pixels, if the page is wide enough. */
  height: number;
  /** Rules of style that fetch nothing, with the fonts of a picture that is to stand alone. */
  faces: string;
  /** Address of the image in a picture's corner; empty if there is none. */
  logo: string;
}

function variable(name: string): string {
  return getComputedStyle(document.documentElement).getPropertyValue(name).trim();
}

/** The theme in force now. */
export function readTheme(): Theme {
  return {
    text: variable("--text"),
    muted: variable("--muted"),
    rule: variable("--rule"),
    grid: variable("--grid"),
    paper: variable("--paper"),
    font: variable("--font"),
    headings: variable("--heading-font"),
    palette: [0, 1, 2, 3, 4, 5, 6, 7].map((index) => variable(`--drive-${index}`)).filter((colour) => colour !== ""),
    height: parseFloat(variable("--chart-height")),
    faces: "",
    logo: "",
  };
}

/** The theme of a saved picture, which contains nothing of the page except what is put into it. */
export function savedTheme(): Theme {
  const rules = [...document.styleSheets].flatMap((sheet) => [...sheet.cssRules]);
  return {
    ...readTheme(),
    font: variable("--picture-font"),
    headings: variable("--picture-heading-font"),
    faces: rules.filter((rule) => rule instanceof CSSFontFaceRule).map((rule) => rule.cssText).join(""),
    logo: document.querySelector<HTMLImageElement>(".logo img")?.currentSrc ?? "",
  };
}

export function colourOf(run: RunStyle, theme: Theme): string {
  return theme.palette[run.colour % theme.palette.length] ?? theme.text;
}

const MARKERS: Shape[] = ["circle", "rect", "triangle", "diamond"];

/**
 * The look of one of several lines of a run: the first is the run's own; of as many as there are colours, no two have one in common, and
 * none has colour and marker of another run of the page.
 */
export function tinted(run: RunStyle, tint: number, runs: readonly RunStyle[], colours: number): RunStyle {
  if (tint === 0) return run;
  // A step that meets every colour before the first again.
  const colour = (run.colour + (colours % 3 === 0 ? 1 : 3) * tint) % colours;
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

/** Lines of reads are solid and of writes dashed everywhere; dots are reserved for a second run of the same drive. */
export function stroke(line: Pick<Line, "dashed">, run: RunStyle, theme: Theme): Record<string, unknown> {
  const type = line.dashed ? [6, 4] : run.hollow ? [2, 3] : "solid";
  return { color: colourOf(run, theme), width: 2, type };
}

/** The options that all charts share: no animation, the page's font, a plain tooltip. */
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

/** The background of such a text, which interrupts lines behind it. */
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
