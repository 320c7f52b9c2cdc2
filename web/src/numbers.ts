/** Numbers as people read them. The same rules stand in `ssdlab/model/units.py`; a test compares the two. */

import type { Quantity } from "./spec";

/** The largest unit in which the value, once rounded to three digits, is at least one. */
function scaled(value: number, units: [number, string][], figures = 3): string {
  const [smallest] = units;
  if (value === 0 || smallest === undefined) return `0${smallest?.[1] ?? ""}`;
  let best = `${digits(value / smallest[0], figures)}${smallest[1]}`;
  for (const [size, name] of units) {
    if (Number(Math.abs(value / size).toPrecision(figures)) >= 1) best = `${digits(value / size, figures)}${name}`;
  }
  return best;
}

/** Formats a number with three significant digits (or the given number), without an exponent. */
function digits(value: number, figures = 3): string {
  if (value === 0) return "0";
  const short = Number(value.toPrecision(figures));
  return short.toFixed(Math.max(0, figures - 1 - Math.floor(Math.log10(Math.abs(short)))));
}

const PLAIN: [number, string][] = [[1, ""], [1e3, "k"], [1e6, "M"], [1e9, "G"]];
const RATE: [number, string][] = [[1, " MB/s"], [1e3, " GB/s"]];
const TIME: [number, string][] = [[1, " ns"], [1e3, " µs"], [1e6, " ms"], [1e9, " s"]];
/** As digits begin to stand behind zeros. */
const MILLISECONDS_BELOW_S = 0.1;
const DECIMAL: [number, string][] = [[1, " B"], [1e3, " kB"], [1e6, " MB"], [1e9, " GB"], [1e12, " TB"]];
const BINARY: [number, string][] = [[1, " B"], [1024, " KiB"], [1024 ** 2, " MiB"], [1024 ** 3, " GiB"]];

/** A value with its unit: `64.3k`, `1.20 GB/s`, `388 µs`, `128 KiB`. */
export function number(value: number, quantity: Quantity, figures = 3): string {
  switch (quantity) {
    case "iops":
      return scaled(value, PLAIN, figures);
    case "mb_s":
      return scaled(value, RATE, figures);
    case "ns":
      return scaled(value, TIME, figures);
    case "s":
      return value > 0 && value < MILLISECONDS_BELOW_S ? scaled(value * 1e9, TIME, figures) : digits(value, figures) + " s";
    case "bytes":
      return trimmed(scaled(value, BINARY, figures));
    case "capacity":
      return scaled(value, DECIMAL, figures);
    case "count":
      // What is counted may be a mean of counts.
      return Number.isInteger(value) ? String(value) : digits(value, figures);
    case "plain":
      return digits(value, figures);
    case "text":
      return "";
  }
}

/** A range with printed ends; a single value if both ends print alike. */
export function range(lower: string, upper: string): string {
  return lower === upper ? lower : `${lower} to ${upper}`;
}

/** As many digits as tell the neighbours of a tick from it, and no more than a rounding error begins at. */
const TICK_FIGURES = 8;

/** The short form of a tick: a round number needs no trailing zeros. It is exact: neighbours may be 1400 and 1402. */
export function tick(value: number, quantity: Quantity): string {
  if (value === 0) return "0";
  if (quantity === "s") return trimmed(digits(value, TICK_FIGURES));
  return trimmed(number(value, quantity, TICK_FIGURES));
}

function trimmed(text: string): string {
  return text.replace(/(\.\d*?)0+(?=\D|$)/, "$1").replace(/\.(?=\D|$)/, "");
}
