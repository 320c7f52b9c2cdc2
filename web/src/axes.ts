/**
 * Axes. ECharts' own log axis labels decades only, so a zoom into one decade would show almost no labels: we plot log10 of the
 * value on a value axis and set the ticks ourselves, at 1-2-5 steps. Labels, ticks and grid lines must be set together or they disagree.
 */

import { number, tick } from "./numbers";
import type { Axis } from "./spec";
import type { Theme } from "./theme";

/** From the value to its place on the axis. */
export function place(axis: Axis, value: number): number {
  switch (axis.scale) {
    case "log":
      return Math.log10(value);
    case "nines":
      // 0.999 -> 3: each nine takes the same width.
      return -Math.log10(1 - value);
    case "linear":
      return value;
  }
}

/** Ticks at 1, 2 and 5 times powers of ten from `low` to `high`; at powers of ten alone where more would not fit. */
export function logTicks(low: number, high: number, most: number): number[] {
  const fine = ticksAt([1, 2, 5], low, high);
  return fine.length <= most ? fine : ticksAt([1], low, high);
}

function ticksAt(steps: number[], low: number, high: number): number[] {
  const ticks: number[] = [];
  for (let power = Math.floor(Math.log10(low)); power <= Math.ceil(Math.log10(high)); power++) {
    for (const step of steps) {
      const value = step * 10 ** power;
      if (value >= low * 0.999 && value <= high * 1.001) ticks.push(value);
    }
  }
  return ticks;
}

/** Least and greatest value; a day of seconds of eight drives is too much for the arguments of `Math.min`. */
export function extent(values: Iterable<number>): [number, number] {
  let [low, high] = [Infinity, -Infinity];
  for (const value of values) {
    if (value < low) low = value;
    if (value > high) high = value;
  }
  return [low, high];
}

/** The range widened to the nearest 1-2-5 step on both sides. */
export function logRange(values: number[]): [number, number] {
  const positive = values.filter((value) => value > 0);
  if (positive.length === 0) return [1, 10];
  const [low, high] = extent(positive);
  return [stepBelow(low * 0.97), stepAbove(high * 1.03)];
}

function stepBelow(value: number): number {
  const power = 10 ** Math.floor(Math.log10(value));
  const step = [5, 2, 1].find((candidate) => candidate * power <= value * 1.0001) ?? 1;
  return step * power;
}

function stepAbove(value: number): number {
  const power = 10 ** Math.floor(Math.log10(value));
  const step = [1, 2, 5, 10].find((candidate) => candidate * power >= value * 0.9999) ?? 10;
  return step * power;
}

interface Drawn {
  theme: Theme;
  side: "x" | "y";
  /** Every value on this axis, for the range. */
  values: number[];
  /** Pixels along the axis, so that labels do not touch. */
  length: number;
}

/** The ECharts option of one axis. */
export function axisOption(axis: Axis, drawn: Drawn): Record<string, unknown> {
  const { theme, side } = drawn;
  const option: Record<string, unknown> = {
    type: "value",
    name: titled(axis, drawn.values),
    nameTextStyle: { color: theme.muted, fontSize: 12, align: side === "y" ? "left" : "center" },
    nameLocation: side === "y" ? "end" : "middle",
    nameGap: side === "y" ? 14 : 30,
    nameMoveOverlap: false,
    axisLine: { show: side === "x", lineStyle: { color: theme.rule } },
    splitLine: { show: side === "y" || axis.scale !== "linear", lineStyle: { color: theme.grid } },
    axisPointer: { show: false },
  };
  return { ...option, ...ticks(axis, drawn) };
}

/** The title of an axis, in the unit of its last ticks; ticks of seconds are bare numbers, so that it has theirs. */
function titled({ title, quantity }: Axis, values: number[]): string {
  if (quantity === "mb_s" && extent(values)[1] >= 1000) return title.replace(/^MB\/s/, "GB/s");
  return quantity !== "s" || /\bs(econds)?\b/.test(title) ? title : `${title}, s`;
}

function ticks(axis: Axis, { theme, side, values, length }: Drawn): Record<string, unknown> {
  const label = { color: theme.muted, fontSize: 12, hideOverlap: true };
  const marks = { show: side === "x", length: 4, lineStyle: { color: theme.rule } };
  if (axis.ticks === undefined && axis.scale === "linear") {
    const formatter = (value: number) => tick(value, axis.quantity);
    const splitNumber = side === "y" ? Math.max(3, Math.round(length / 60)) : Math.max(2, Math.round(length / 110));
    const whole = axis.quantity === "count";
    const [least, most] = axis.range ?? [0, 0];
    const span = least > 0 ? rangeAround(least, most, splitNumber, whole) : { min: 0, ...linearRange(values, splitNumber, whole) };
    return { ...span, axisLabel: { ...label, formatter }, axisTick: marks };
  }
  const texts = fixedTicks(axis, values, length / (side === "y" ? 22 : 48));
  const customValues = texts.map(([at]) => at);
  const places = values.map((value) => place(axis, value)).filter(Number.isFinite);
  const [first, last] = extent(places);
  const pad = side === "x" ? (last - first) * 0.02 || 0.1 : 0;
  const [low, high] = axis.ticks === undefined ? logRange(values).map(Math.log10) : [first - pad, last + pad];
  const formatter = (value: number) => texts.find(([at]) => Math.abs(at - value) < 1e-6)?.[1] ?? "";
  return {
    min: low,
    max: high,
    axisLabel: { ...label, customValues, formatter, showMinLabel: true, showMaxLabel: true },
    axisTick: { ...marks, customValues },
  };
}

/**
 * From zero to the first round step at or above every value. Left to itself ECharts would look at lines and bars only, and cut off bands
 * and whiskers. What is counted has whole steps.
 */
export function linearRange(values: number[], splitNumber: number, whole = false): { max?: number; interval?: number; splitNumber: number } {
  const greatest = Math.max(0, extent(values)[1]);
  if (greatest === 0) return { splitNumber };
  const interval = Math.max(stepAbove(greatest / splitNumber), whole ? 1 : 0);
  return { max: Math.ceil((greatest / interval) * 0.9999) * interval, interval, splitNumber };
}

/** From the last round step below to the first above, for lines that are held against one another far from zero. */
export function rangeAround(least: number, most: number, splitNumber: number, whole = false): { min: number; max: number; interval: number } {
  const interval = Math.max(stepAbove((most - least) / splitNumber), whole ? 1 : 0);
  return { min: Math.floor(least / interval) * interval, max: Math.ceil(most / interval) * interval, interval };
}

function fixedTicks(axis: Axis, values: number[], most: number): [number, string][] {
  if (axis.ticks !== undefined) return axis.ticks.map(([at, text]) => [place(axis, at), text]);
  const [low, high] = logRange(values);
  return logTicks(low, high, most).map((value) => [Math.log10(value), tick(value, axis.quantity)]);
}

/** A value in full, for a tooltip. */
export function exact(axis: Axis, value: number): string {
  const fixed = axis.ticks?.find(([at]) => at === value)?.[1];
  return fixed ?? number(value, axis.quantity);
}
