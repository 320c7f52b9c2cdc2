/** Thins the dots of long series: of dots that would cover one another, one is drawn. */

import { extent } from "./axes";

/** Positions of dots on the axes as drawn; NaN has none. */
export interface Places {
  xs: Float64Array;
  ys: Float64Array;
}

/** The range that an axis shows, and its length in pixels. */
export interface Span {
  ends: [number, number];
  pixels: number;
}

/** Dots of a picture: each costs some 60 bytes of the page. */
const MOST_DOTS = 6000;

/** Rows of the dots of a picture: at most one in each square of two pixels, or of more where that leaves too many. */
export function apart(places: Places, fromZero: boolean, { width, height }: { width: number; height: number }): Int32Array {
  const [x, y] = [extent(places.xs), extent(places.ys)];
  if (fromZero) y[0] = Math.min(0, y[0]);
  return atMost(MOST_DOTS, places, rowsOf(0, places.xs.length), 2, { ends: x, pixels: width }, { ends: y, pixels: height });
}

/** Dots of a chart of the page: each is a call of the canvas, of a microsecond or two. */
const MOST_SHOWN = 32_000;

/** Rows of the dots of one of so many series of the page: in squares of the dots' size, or of more where all have too many. */
export function inSight(places: Places, size: number, series: number, x: Span, y: Span, [from, until]: [number, number]): Int32Array {
  return atMost(MOST_SHOWN / series, places, rowsOf(from, until), size, x, y);
}

function rowsOf(from: number, until: number): Int32Array {
  const rows = new Int32Array(Math.max(0, until - from));
  for (let index = 0; index < rows.length; index += 1) rows[index] = from + index;
  return rows;
}

/** Thins dots by squares of growing size until they are few enough. */
function atMost(most: number, places: Places, rows: Int32Array, size: number, x: Span, y: Span): Int32Array {
  const left = oneIn(places, rows, size, x, y);
  if (left.length <= most) return left;
  // As if dots lay evenly: where they do not, another turn or two.
  return atMost(most, places, left, Math.max(size + 1, Math.floor(size * Math.sqrt(left.length / most))), x, y);
}

/**
 * One of the dots in each square of so many pixels, of some rows: whose row comes first when they are shuffled. The first in time would stand
 * on the left edge of its square, and all of them in stripes.
 */
function oneIn({ xs, ys }: Places, rows: Int32Array, size: number, x: Span, y: Span): Int32Array {
  const [across, up] = [perSquare(x, size), perSquare(y, size)];
  const [[left], [low]] = [x.ends, y.ends];
  const high = Math.ceil(y.pixels / size) + 2;
  const first = new Int32Array((Math.ceil(x.pixels / size) + 2) * high).fill(-1);
  for (const row of rows) {
    const height = ys[row] as number;
    if (Number.isNaN(height)) continue;
    const square = Math.floor(((xs[row] as number) - left) * across) * high + Math.floor((height - low) * up);
    const other = first[square] as number;
    if (other < 0 || shuffled(row) < shuffled(other)) first[square] = row;
  }
  return first.filter((row) => row >= 0);
}

/** The place of a row among shuffled ones: Fibonacci hashing, the same each time. */
function shuffled(row: number): number {
  return Math.imul(row, 0x9e3779b1) >>> 0;
}

/** Squares of so many pixels to one of an axis's own units. */
function perSquare({ ends: [low, high], pixels }: Span, size: number): number {
  return pixels / size / (high - low || 1);
}
