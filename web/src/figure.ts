/** One figure of the page: its chart, the buttons that switch views, its downloads. */

import { at, chartHeight, chartOption } from "./chart";
import { type EChartsType, init } from "./charts";
import { csvOf, save, seriesCsv, timelineCsv } from "./downloads";
import type { Canvas } from "./draw";
import { Columns, tracksOf } from "./columns";
import { picture } from "./picture";
import type { Chart, Page, SeriesChart } from "./spec";
import { readTheme, savedTheme } from "./theme";
import { DOTS, series } from "./series";
import { timelineKeys } from "./timeline";
import { type Pressed, told } from "./told";
import "./touch";

/** Pixel ratio of a saved picture. */
const RATIO = 2;

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
    this.on("png", () => void this.savePng());
    plot.addEventListener("keydown", (event) => this.step(event));
    plot.addEventListener("blur", () => this.chart?.dispatchAction({ type: "hideTip" }));
  }

  /** Unpacks what the pressed buttons need, then draws; a chart that cannot be drawn says so, and leaves the others intact. */
  async show(): Promise<void> {
    if (this.folded) return;
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

  /** Unpacks the other measures of what is shown, in idle time, so that their buttons need not. */
  async prepare(): Promise<void> {
    if (this.spec.kind !== "series") return;
    for (const [measure, { key }] of this.spec.measures.entries()) {
      await this.columns.load(this.spec, this.choice(this.spec), measure);
      for (const track of tracksOf(this.spec, this.choice(this.spec))) {
        // Each sorts a day's seconds: a button that is pressed meanwhile waits for one, not for all.
        await new Promise((resume) => setTimeout(resume));
        [this.columns.ends(track, key), this.columns.medians(track, key), this.columns.sorted(track, key)];
      }
    }
  }

  private async unpack(): Promise<void> {
    if (this.spec.kind === "series") await this.columns.load(this.spec, this.choice(this.spec), this.pressed["measure"] ?? 0);
    if (this.spec.kind === "timeline") await this.columns.loadTracks(at(this.spec.views, this.view).tracks, timelineKeys(this.spec));
  }

  /** Draws the present view again in the present theme, as wide as its column unless a width is given. */
  draw(width = this.plot.clientWidth): void {
    const sized = { runs: this.page.runs, theme: readTheme(), width };
    const height = chartHeight(this.spec, sized);
    this.plot.style.height = `${height}px`;
    const canvas: Canvas = { ...sized, height };
    this.canvas = canvas;
    const option = chartOption(this.spec, this.shown, this.columns, canvas);
    this.chart ??= this.begun();
    this.chart.resize({ width, height });
    this.chart.setOption(option, { notMerge: true });
    if (this.spec.kind === "series" || this.spec.kind === "timeline") {
      this.chart.dispatchAction({ type: "takeGlobalCursor", key: "dataZoomSelect", dataZoomSelectActive: true });
    }
    this.element.dataset["drawn"] = "true";
    this.tellSoon(canvas);
  }

  private begun(): EChartsType {
    const chart = init(this.plot);
    if (this.spec.kind === "series") chart.on("datazoom", () => this.zoomed());
    return chart;
  }

  /** Draws the dots of the part of the time in sight: a zoom shows those that the whole had no room for. */
  private zoomed(): void {
    if (this.spec.kind !== "series" || this.chart === undefined || this.canvas === undefined) return;
    const [zoom] = this.chart.getOption()["dataZoom"] as { startValue: number; endValue: number }[];
    if (zoom === undefined) return;
    const { choice, measure } = this.shown;
    const option = series(this.spec, this.columns, choice, measure, this.canvas, [zoom.startValue, zoom.endValue]);
    const dots = (option["series"] as { id?: string; data: unknown }[]).filter(({ id }) => id?.startsWith(DOTS));
    this.chart.setOption({ series: dots.map(({ id, data }) => ({ id, data })) });
  }

  private canvas: Canvas | undefined;

  /** Says it when it is drawn: the words of a day's seconds take a sort of each column, and who looks need not wait for them. */
  private tellSoon(canvas: Canvas): void {
    this.element.setAttribute("aria-busy", "true");
    requestAnimationFrame(() => {
      setTimeout(() => {
        if (canvas !== this.canvas) return; // drawn again meanwhile
        this.tell(canvas);
        this.element.removeAttribute("aria-busy");
      });
    });
  }

  /** Describes the drawing in words for screen readers, with a line for each bar, row or line under its name in the chart. */
  private tell(canvas: Canvas): void {
    const list = this.told ?? document.createElement("ul");
    if (this.told === undefined) {
      list.className = "unseen told";
      list.id = `${this.element.id}-told`;
      this.plot.after(list);
      this.plot.setAttribute("aria-describedby", list.id);
      this.told = list;
    }
    const lines = told(this.spec, this.shown, this.columns, canvas);
    list.replaceChildren(...lines.map((text) => Object.assign(document.createElement("li"), { textContent: text })));
  }

  private told: HTMLUListElement | undefined;

  private get shown(): Pressed {
    const choice = this.spec.kind === "series" ? this.choice(this.spec) : 0;
    return { view: this.view, choice, measure: this.pressed["measure"] ?? 0 };
  }

  /** Whether the figure is in a closed part of the page, where it has no width. */
  get folded(): boolean {
    return this.element.closest("details:not([open])") !== null;
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

  /** The choice that the pressed view and variant select. */
  private choice(spec: SeriesChart): number {
    return this.view * spec.variants + (this.pressed["variant"] ?? 0);
  }

  private cursor = 0;

  /** Arrow keys walk over the points of the first drawn line, as the pointer would. */
  private step(event: KeyboardEvent): void {
    const move = { ArrowRight: 1, ArrowLeft: -1, ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (move === undefined || this.chart === undefined) return;
    event.preventDefault();
    const drawn = (this.chart.getOption()["series"] ?? []) as { silent?: boolean; data?: ArrayLike<unknown>; dimensions?: unknown[] }[];
    const counts = drawn.map(({ silent, data, dimensions }) => (silent ? 0 : (data?.length ?? 0) / (data instanceof Float64Array ? (dimensions?.length ?? 1) : 1)));
    const all = counts.reduce((sum, count) => sum + count, 0);
    if (all === 0) return;
    this.cursor = (this.cursor + move + all) % all;
    let dataIndex = this.cursor;
    const seriesIndex = counts.findIndex((count) => {
      if (dataIndex < count) return true;
      dataIndex -= count;
      return false;
    });
    this.chart.dispatchAction({ type: "showTip", seriesIndex, dataIndex });
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

  /** The self-contained picture of the present view, in the present theme. */
  private async savePng(): Promise<void> {
    await this.unpack();
    const [width, height] = this.page.saved;
    const head = this.page.heads[this.element.id] ?? { title: this.element.querySelector("h3")?.textContent ?? "", facts: [], footer: "", notes: [], parts: [] };
    const svg = picture({ chart: this.spec, pressed: this.shown, head, runs: this.page.runs, theme: savedTheme(), width, height }, this.columns);
    const image = new Image();
    image.src = `data:image/svg+xml;charset=utf-8,${encodeURIComponent(svg)}`;
    await image.decode();
    const sheet = document.createElement("canvas");
    [sheet.width, sheet.height] = [image.naturalWidth * RATIO, image.naturalHeight * RATIO];
    sheet.getContext("2d")?.drawImage(image, 0, 0, sheet.width, sheet.height);
    sheet.toBlob((blob) => {
      if (blob !== null) save(blob, `${this.fileName}.png`);
    });
  }
}
