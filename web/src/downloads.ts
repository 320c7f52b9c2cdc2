/** Files made inside the page: nothing is asked of any server. */

import { runStyle } from "./draw";
import type { Columns } from "./columns";
import type { RunStyle, SeriesChart, TimelineChart } from "./spec";
import { stepOf } from "./timeline";

/** Offers a file for download. */
export function save(blob: Blob, name: string): void {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(blob);
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
}

/** The tables of a figure as CSV; cells that are shown rounded carry their full value in `data-value`. */
export function csvOf(figure: HTMLElement): string {
  const tables = [...figure.querySelectorAll<HTMLTableElement>("table")];
  return tables.map((table) => [...table.rows].map((row) => [...row.cells].map(cell).join(",")).join("\r\n")).join("\r\n\r\n") + "\r\n";
}

function cell(element: HTMLTableCellElement): string {
  return quoted(element.dataset["value"] ?? element.textContent.trim());
}

const NUMBER = /^[-+]?[\d.][\d.,\s]*([eE][-+]?\d+)?\s*%?$/;

/** A cell: an apostrophe keeps a spreadsheet from reading names of users and drives as formulas; numbers are unchanged. */
export function quoted(text: string): string {
  const safe = /^[=+\-@\t\r]/.test(text) && !NUMBER.test(text) ? `'${text}` : text;
  return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}

/** Every interval of every track of a time series. */
export async function seriesCsv(chart: SeriesChart, columns: Columns, runs: RunStyle[]): Promise<string> {
  // Two measures may show one column on different axes.
  const keys = [...new Set(chart.measures.map(({ key }) => key))];
  const lines = [["run", "point", "end_s", ...keys].join(",")];
  for (const [choice, { label, tracks }] of chart.choices.entries()) {
    for (const measure of chart.measures.keys()) await columns.load(chart, choice, measure);
    for (const track of tracks) {
      const named = [runStyle({ runs }, track.run).label, `${label} ${label.endsWith(track.name) ? "" : track.name}`.trim()].map(quoted);
      const values = keys.map((key) => columns.of(track, key));
      columns.of(track, "end_s").forEach((end_s, row) => {
        lines.push([...named, end_s, ...values.map((column) => column[row])].join(","));
      });
    }
  }
  return lines.join("\r\n") + "\r\n";
}

/** Every point of every figure of every run on its time line. */
export async function timelineCsv(chart: TimelineChart, columns: Columns, runs: RunStyle[]): Promise<string> {
  const keys = chart.panels.map(({ key }) => key);
  const lines = ["run,step,figure,end_s,value"];
  for (const { tracks } of chart.views) {
    await columns.loadTracks(tracks, ["end_s", ...keys]);
    for (const track of tracks) {
      const run = quoted(runStyle({ runs }, track.run).label);
      for (const key of keys) {
        const times_s = columns.of(track, "end_s");
        columns.of(track, key).forEach((value, row) => lines.push([run, quoted(stepOf(track, row)), key, times_s[row], value].join(",")));
      }
    }
  }
  return lines.join("\r\n") + "\r\n";
}
