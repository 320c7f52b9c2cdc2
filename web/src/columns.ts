/** The columns of time series, unpacked, and what is read off each again and again: a day of seconds of eight drives is some 700,000 values. */

import type { SeriesChart, Track } from "./spec";
import { unpack } from "./unpack";

const NONE = new Float64Array();

/** A column and the values derived from it, each computed once. */
class Column {
  private sized: Float64Array | undefined;

  constructor(readonly values: Float64Array) {}

  /** The values from the least to the greatest. */
  get sorted(): Float64Array {
    this.sized ??= this.values.slice().sort();
    return this.sized;
  }

  private middles: [number, number][] | undefined;

  /** The median of each of so many parts, with the row in its middle. */
  get medians(): [number, number][] {
    this.middles ??= mediansOf(this.values);
    return this.middles;
  }

  private reach: number[] | undefined;

  /** The values that an axis must reach: the least, the least above zero, the greatest. */
  get ends(): number[] {
    this.reach ??= this.values.length === 0 ? [] : endsOf(this.values);
    return this.reach;
  }
}

/** A line of medians has at most so many points. */
const PARTS = 240;

function mediansOf(values: Float64Array): [number, number][] {
  const size = Math.ceil(values.length / PARTS);
  const found: [number, number][] = [];
  for (let start = 0; start < values.length; start += size) {
    const part = values.slice(start, start + size).sort();
    found.push([Math.min(start + Math.floor(size / 2), values.length - 1), part[Math.floor(part.length / 2)] ?? 0]);
  }
  return found;
}

/** Sorts values that are not negative; a loop, since drawing waits for it, and sorting a day's seconds takes 13 ms. */
function endsOf(values: Float64Array): number[] {
  let [least, above, greatest] = [Infinity, Infinity, 0];
  for (const value of values) {
    if (value < least) least = value;
    if (value > 0 && value < above) above = value;
    if (value > greatest) greatest = value;
  }
  return [least, above === Infinity ? greatest : above, greatest];
}

/** How many of ascending values are at most a bound. */
export function after(sorted: Float64Array, bound: number): number {
  let [from, until] = [0, sorted.length];
  while (from < until) {
    const middle = (from + until) >> 1;
    if ((sorted[middle] ?? Infinity) <= bound) from = middle + 1;
    else until = middle;
  }
  return from;
}

/** The tracks that a choice shows: its own, or those of the choices that it shows together. */
export function tracksOf(chart: SeriesChart, choice: number): Track[] {
  const { tracks = [], of = [] } = chart.choices[choice] ?? {};
  return [...tracks, ...of.flatMap((other) => tracksOf(chart, other))];
}

/** Unpacked columns by their packed text: unpacking is asynchronous, drawing (before a print, above all) is not. */
export class Columns {
  private readonly unpacked = new Map<string, Column>();

  /** Unpacks what a choice and a measure need. */
  async load(chart: SeriesChart, choice: number, measure: number): Promise<void> {
    await this.loadTracks(tracksOf(chart, choice), ["end_s", chart.measures[measure]?.key ?? ""]);
  }

  /** Unpacks some columns of tracks, side by side: the browser inflates on threads of its own. */
  async loadTracks(tracks: Track[], keys: string[]): Promise<void> {
    const asked = tracks.flatMap((track) => track.columns).filter(({ key }) => keys.includes(key));
    await Promise.all(asked.map(({ packed, unit }) => (this.loading[packed] ??= this.loadOne(packed, unit))));
  }

  /** Columns that are unpacked or being unpacked; a button pressed meanwhile waits for them instead of starting again. */
  private readonly loading: Record<string, Promise<void>> = {};

  private async loadOne(packed: string, unit: number): Promise<void> {
    if (this.unpacked.has(packed)) return;
    try {
      this.put(packed, await unpack(packed, unit));
    } finally {
      delete this.loading[packed];
    }
  }

  /** Keeps a column that was unpacked elsewhere. */
  put(packed: string, values: Float64Array): void {
    this.unpacked.set(packed, new Column(values));
  }

  /** A loaded column; empty where it was not loaded or is not there. */
  of(track: Track, key: string): Float64Array {
    return this.column(track, key)?.values ?? NONE;
  }

  /** Its values from the least to the greatest. */
  sorted(track: Track, key: string): Float64Array {
    return this.column(track, key)?.sorted ?? NONE;
  }

  /** Its medians, with the row in the middle of each. */
  medians(track: Track, key: string): [number, number][] {
    return this.column(track, key)?.medians ?? [];
  }

  /** The values that an axis must reach for it. */
  ends(track: Track, key: string): number[] {
    return this.column(track, key)?.ends ?? [];
  }

  private column(track: Track, key: string): Column | undefined {
    return this.unpacked.get(track.columns.find((column) => column.key === key)?.packed ?? "");
  }
}
