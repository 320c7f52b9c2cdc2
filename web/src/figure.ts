/** One figure of the page: its chart, the buttons that switch views, its downloads. */

import { bars, barsHeight } from "./bars";
import { type EChartsType, init } from "./charts";
import { csvOf, save, seriesCsv, timelineCsv } from "./downloads";
import type { Canvas, Option } from "./draw";
import { heat, heatHeight } from "./heat";
import { marks, marksHeight } from "./marks";
import { Columns, series } from "./series";
import type { Chart, Page, SeriesChart } from "./spec";
import { readTheme } from "./theme";
import { timeline, timelineHeight, timelineKeys } from "./timeline";
import { xy } from "./xy";

const CURVE_HEIGHT = 380;
const NARROW_HEIGHT = 320;

export class Figure {
  private chart: EChartsType | undefined;
  /** Pressed button of each group: the view, and for series the variant and the measure as well. */
  private readonly pressed: Record<string, number> = {};
  private readonly columns = new Columns();

  constructor(
    private readonly element: HTMLElement,
    private readonly plot: HTMLElement,
    private readonly spec: Chart,
    private readonly page: Page,
  ) {
    for (const button of element.querySelectorAll<HTMLButtonElement>("button[data-group]")) {
      const group = button.dataset["group"] ?? "";
      if (button.getAttribute("aria-pressed") === "true") this.pressed[group] = Number(button.dataset["index"]);
      button.addEventListener("click", () => this.press(group, Number(button.dataset["index"])));
    }
    for (const list of element.querySelectorAll<HTMLSelectElement>("select[data-group]")) {
      const group = list.dataset["group"] ?? "";
      this.pressed[group] = list.selectedIndex;
      list.addEventListener("change", () => this.press(group, list.selectedIndex));
    }
    this.on("reset", () => this.chart?.dispatchAction({ type: "dataZoom", start: 0, end: 100 }));
    this.on("csv", () => void this.saveCsv());
    this.on("png", () => this.savePng());
    plot.addEventListener("keydown", (event) => this.step(event));
    plot.addEventListener("blur", () => this.chart?.dispatchAction({ type: "hideTip" }));
  }

  /** Unpacks what the pressed buttons ask for, then draws; a chart that cannot be drawn says so, and spoils no other. */
  async show(): Promise<void> {
    try {
      await this.unpack();
      this.draw();
    } catch (error) {
      console.error(error);
      this.chart?.dispose();
      this.chart = undefined;
      this.element.dataset["failed"] = "true";
      this.plot.textContent = `This chart cannot be drawn: ${error instanceof Error ? error.message : String(error)}`;
    }
  }

  private async unpack(): Promise<void> {
    if (this.spec.kind === "series") await this.columns.load(this.spec, this.choice(this.spec), this.pressed["measure"] ?? 0);
    if (this.spec.kind === "timeline") await this.columns.loadTracks(at(this.spec.views, this.view).tracks, timelineKeys(this.spec));
  }

  /** Draws what was shown before again, in the theme of now; as wide as its column, unless told. */
  draw(width = this.plot.clientWidth): void {
    const height = this.height(width);
    this.plot.style.height = `${height}px`;
    const canvas: Canvas = { runs: this.page.runs, theme: readTheme(), width, height };
    const option = this.option(canvas);
    this.chart ??= init(this.plot);
    this.chart.resize({ width, height });
    this.chart.setOption(option, { notMerge: true });
    if (this.spec.kind === "series" || this.spec.kind === "timeline") {
      this.chart.dispatchAction({ type: "takeGlobalCursor", key: "dataZoomSelect", dataZoomSelectActive: true });
    }
    this.element.dataset["drawn"] = "true";
  }

  get drawn(): boolean {
    return this.chart !== undefined;
  }

  private on(action: string, listener: () => void): void {
    this.element.querySelector(`button[data-action="${action}"]`)?.addEventListener("click", listener);
  }

  private press(group: string, index: number): void {
    this.pressed[group] = index;
    for (const button of this.element.querySelectorAll<HTMLButtonElement>(`button[data-group="${group}"]`)) {
      button.setAttribute("aria-pressed", String(Number(button.dataset["index"]) === index));
    }
    this.cursor = 0;
    void this.show();
  }

  private get view(): number {
    return this.pressed["view"] ?? 0;
  }

  /** Which choice the pressed view and variant select. */
  private choice(spec: SeriesChart): number {
    return this.view * spec.variants + (this.pressed["variant"] ?? 0);
  }

  private height(width: number): number {
    switch (this.spec.kind) {
      case "bars":
        return Math.max(...this.spec.views.map((view) => barsHeight(view, this.page.runs)));
      case "marks":
        return marksHeight(this.spec, width);
      case "heat":
        return heatHeight(this.spec);
      case "timeline":
        return timelineHeight(this.spec);
      case "xy":
      case "series":
        return width < 560 ? NARROW_HEIGHT : CURVE_HEIGHT;
    }
  }

  private option(canvas: Canvas): Option {
    const { spec } = this;
    switch (spec.kind) {
      case "xy":
        return xy(at(spec.views, this.view), canvas);
      case "bars":
        return bars(at(spec.views, this.view), canvas);
      case "marks":
        return marks(spec, at(spec.views, this.view), canvas);
      case "heat":
        return heat(spec, at(spec.views, this.view), canvas);
      case "timeline":
        return timeline(spec, at(spec.views, this.view), this.columns, canvas);
      case "series":
        return series(spec, this.columns, this.choice(spec), this.pressed["measure"] ?? 0, canvas);
    }
  }

  private cursor = 0;

  /** Arrow keys walk over the points of the first drawn line, as the pointer would. */
  private step(event: KeyboardEvent): void {
    const move = { ArrowRight: 1, ArrowLeft: -1, ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (move === undefined || this.chart === undefined) return;
    event.preventDefault();
    const drawn = (this.chart.getOption()["series"] ?? []) as { silent?: boolean; data?: unknown[] }[];
    const places = drawn.flatMap(({ silent, data }, seriesIndex) =>
      silent ? [] : (data ?? []).map((_, dataIndex) => ({ seriesIndex, dataIndex })),
    );
    if (places.length === 0) return;
    this.cursor = (this.cursor + move + places.length) % places.length;
    this.chart.dispatchAction({ type: "showTip", ...at(places, this.cursor) });
  }

  private get fileName(): string {
    return `${this.page.title}-${this.element.id}`.replace(/[^\w.-]+/g, "-").toLowerCase();
  }

  private async saveCsv(): Promise<void> {
    const text = await this.csv();
    save(new Blob([text], { type: "text/csv" }), `${this.fileName}.csv`);
  }

  private async csv(): Promise<string> {
    if (this.spec.kind === "series") return seriesCsv(this.spec, this.columns, this.page.runs);
    if (this.spec.kind === "timeline") return timelineCsv(this.spec, this.columns, this.page.runs);
    return csvOf(this.element);
  }

  /** The picture carries its heading and where it came from, so that it can be judged away from the page. */
  private savePng(): void {
    if (this.chart === undefined) return;
    const theme = readTheme();
    const ratio = 2;
    const picture = this.chart.renderToCanvas({ pixelRatio: ratio, backgroundColor: theme.paper });
    const sheet = document.createElement("canvas");
    const [head, foot] = [44 * ratio, 32 * ratio];
    sheet.width = picture.width;
    sheet.height = picture.height + head + foot;
    const pen = sheet.getContext("2d");
    if (pen === null) return;
    pen.fillStyle = theme.paper;
    pen.fillRect(0, 0, sheet.width, sheet.height);
    pen.drawImage(picture, 0, head);
    pen.fillStyle = theme.text;
    pen.font = `600 ${16 * ratio}px ${theme.font}`;
    pen.fillText(this.element.querySelector("h3")?.textContent ?? "", 10 * ratio, 28 * ratio, sheet.width - 20 * ratio);
    pen.fillStyle = theme.muted;
    pen.font = `${11 * ratio}px ${theme.font}`;
    pen.fillText(this.page.footer, 10 * ratio, sheet.height - 12 * ratio, sheet.width - 20 * ratio);
    sheet.toBlob((blob) => {
      if (blob !== null) save(blob, `${this.fileName}.png`);
    });
  }
}

function at<T>(list: T[], index: number): T {
  const found = list[index] ?? list[0];
  if (found === undefined) throw new Error("a chart without a view");
  return found;
}
