/** Describes a chart in words, for screen readers and as the text of a picture, with a sentence for each line, bar or row. */

import { exact } from "./axes";
import { barRows } from "./bars";
import { type Canvas, runStyle } from "./draw";
import { rowNames } from "./marks";
import { number, range } from "./numbers";
import { type Columns, tracksOf } from "./columns";
import { clock } from "./series";
import type { Axis, Chart, HeatView, Line, MarksRow, MarksView, Track, XyView } from "./spec";


/** Which view, variant and measure of a chart are shown. */
export interface Pressed {
  view: number;
  choice: number;
  measure: number;
}

export function told(chart: Chart, { view, choice, measure }: Pressed, columns: Columns, canvas: Canvas): string[] {
  switch (chart.kind) {
    case "bars": {
      const one = chart.views[view];
      if (one === undefined) return [];
      return barRows(one, canvas).flatMap(({ label, group, bar }) =>
        bar === undefined ? [] : [`${label}: ${joined(label === group ? "" : group, `${bar.withheld ? "no value" : number(bar.value, one.axis.quantity)} ${bar.note}`)}`],
      );
    }
    case "xy":
      return (chart.views[view]?.lines ?? []).map((line) => ofLine(chart.views[view] as XyView, line, canvas));
    case "marks":
      return (chart.views[view]?.rows ?? []).map((row, at) => ofMarks(chart.axis, row, rowNames(chart.views[view] as MarksView, canvas)[at] ?? "", canvas));
    case "heat":
      return [ofMap(chart.views[view], canvas)];
    case "timeline":
      return (chart.views[view]?.tracks ?? []).flatMap((track) =>
        chart.panels.flatMap((panel) => ofTrack(panel.axis, panel.label, track, panel.key, columns, canvas)),
      );
    case "series": {
      const wanted = chart.measures[measure];
      return tracksOf(chart, choice).flatMap((track) =>
        wanted === undefined ? [] : ofTrack(wanted.axis, wanted.label, track, wanted.key, columns, canvas),
      );
    }
  }
}

function joined(...parts: string[]): string {
  return parts.map((part) => part.trim()).filter((part) => part !== "").join(", ");
}

function who(run: number, name: string, canvas: Canvas): string {
  return joined(runStyle(canvas, run).label, name);
}

function ofLine(view: XyView, line: Line, canvas: Canvas): string {
  const [first, last] = [line.points[0], line.points[line.points.length - 1]];
  if (first === undefined || last === undefined) return `${who(line.run, line.name, canvas)}: no points`;
  const says = ({ x, y }: { x: number; y: number }) => `${exact(view.y, y)} at ${exact(view.x, x)}`;
  const ranked = [...line.points].sort((one, other) => one.y - other.y);
  const ends = ranked.length > 2 ? `, least ${says(ranked[0] ?? first)}, greatest ${says(ranked[ranked.length - 1] ?? last)}` : "";
  const chosen = line.points.find((point) => point.chosen);
  const ring = chosen === undefined ? "" : `, reported ${says(chosen)}`;
  const failed = line.points.filter((point) => point.failed);
  const crosses = failed.length === 0 ? "" : `, failed ${failed.map(says).join(", ")}`;
  const unproven = line.points.filter((point) => line.unproven || point.unproven).length;
  const held = unproven === 0 ? "" : unproven === line.points.length ? ", none proven" : `, ${unproven} of them not proven`;
  return `${who(line.run, line.name, canvas)}: ${line.points.length} points, from ${says(first)} to ${says(last)}${ends}${ring}${crosses}${held}`;
}

function ofMarks(axis: Axis, row: MarksRow, name: string, canvas: Canvas): string {
  const whose = row.name === runStyle(canvas, row.run).label ? joined(name, row.note) : who(row.run, joined(name, row.note), canvas);
  return `${whose}: ${row.marks.map(({ name, value }) => `${name} ${exact(axis, value)}`).join(", ")}`;
}

function ofMap(view: HeatView | undefined, canvas: Canvas): string {
  if (view === undefined) return "";
  const values = view.values.flat().filter((value) => value !== null).sort((one, other) => one - other);
  const [least, most] = [values[0], values[values.length - 1]];
  if (least === undefined || most === undefined) return `${who(view.run, view.title, canvas)}: no cell was measured`;
  return `${who(view.run, view.title, canvas)}: ${values.length} cells of ${range(number(least, view.quantity), number(most, view.quantity))}`;
}

function ofTrack(axis: Axis, label: string, track: Track, key: string, columns: Columns, canvas: Canvas): string[] {
  const values = columns.sorted(track, key);
  if (values.length === 0) return [];
  const at = (share: number) => number(values[Math.min(values.length - 1, Math.floor(share * values.length))] ?? 0, axis.quantity);
  const end_s = columns.of(track, "end_s").at(-1) ?? 0;
  const until = end_s > 7200 ? `${clock(end_s / 3600)} h` : number(end_s, "s");
  return [`${who(track.run, joined(track.name, label), canvas)}: ${values.length} intervals until ${until}, least ${at(0)}, median ${at(0.5)}, greatest ${at(1)}`];
}
