/** Files made inside the page: nothing is asked of any server. */

import { runStyle } from "./draw";
import { column } from "./series";
import type { RunStyle, SeriesChart } from "./spec";

/** Hands a file to the reader. */
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

function quoted(text: string): string {
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

/** Every interval of every track of a time series. */
export async function seriesCsv(chart: SeriesChart, runs: RunStyle[]): Promise<string> {
  const keys = chart.measures.map(({ key }) => key);
  const lines = [["run", "point", "end_s", ...keys].join(",")];
  for (const { label, tracks } of chart.choices) {
    for (const track of tracks) {
      const columns = await Promise.all(keys.map((key) => column(track, key)));
      const name = runStyle({ runs }, track.run).label;
      columns[0]?.times_s.forEach((time_s, row) => {
        lines.push([quoted(name), quoted([label, track.name].join(" ").trim()), time_s, ...columns.map(({ values }) => values[row])].join(","));
      });
    }
  }
  return lines.join("\r\n") + "\r\n";
}
