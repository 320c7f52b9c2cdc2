/** The pictures alone, for an engine without a page: `ssdlab/report/pictures.py` hands over what is to be drawn and gets an SVG. */

import { setPlatformAPI } from "echarts/core";
import { estimatedWidth } from "./fonts";
import { picture, type Asked } from "./picture";
import { Columns } from "./columns";
import { drawSample } from "./warming";

/** The request to `picture`, and the unpacked columns under the names that replace them. */
interface Given extends Asked {
  columns: Record<string, number[]>;
}

function draw(given: Given): string {
  const columns = new Columns();
  for (const [name, values] of Object.entries(given.columns)) columns.put(name, Float64Array.from(values));
  return picture(given, columns);
}

// The lines of a text box are as high as a letter M is wide, to ECharts.
setPlatformAPI({ measureText: (text, font) => ({ width: estimatedWidth(text, font ?? "12px sans-serif") }) });

Object.assign(globalThis, { drawPicture: (text: string) => draw(JSON.parse(text) as Given), drawSample: (at: number) => drawSample(at, new Columns()) });
