/** Starts the page: charts are drawn from the top down, and again when the theme or the width changes. */

import { followAddress, holdAnchor } from "./address";
import { save } from "./downloads";
import { Figure } from "./figure";
import type { Page } from "./spec";
import { inflated } from "./unpack";

/** Parses the JSON in a script element of the page. */
async function json(id: string): Promise<string> {
  return new TextDecoder().decode(await inflated(document.getElementById(id)?.textContent ?? ""));
}

/** Width of a chart on paper, in CSS pixels: one column of A4 or Letter inside their margins. */
const PRINTED = 680;

function figures(page: Page): Figure[] {
  const found: Figure[] = [];
  for (const element of document.querySelectorAll<HTMLElement>("figure[data-chart]")) {
    const plot = element.querySelector<HTMLElement>(".plot");
    const spec = page.charts[element.dataset["chart"] ?? ""];
    if (plot !== null && spec !== undefined) found.push(new Figure(element, plot, spec, page));
  }
  return found;
}

/** Draws one chart after another from the top down, and lets the reader scroll and click in between. */
async function drawAll(all: Figure[]): Promise<void> {
  // A canvas waits for no font, and keeps what it was written with.
  await Promise.allSettled([...document.fonts].map((face) => face.load()));
  for (const figure of all.filter(({ folded }) => !folded)) {
    await figure.show();
    await new Promise((resume) => setTimeout(resume));
  }
}

async function prepareAll(all: Figure[]): Promise<void> {
  for (const figure of all.filter(({ folded }) => !folded)) await figure.prepare();
}

async function start(): Promise<void> {
  const all = figures(JSON.parse(await json("page-data")) as Page);
  const redraw = (width?: number) => {
    for (const figure of all) if (figure.drawn) figure.draw(width);
  };

  for (const rest of document.querySelectorAll<HTMLDetailsElement>("details.rest")) {
    rest.addEventListener("toggle", () => void drawAll(all.filter((figure) => !figure.drawn)));
  }
  followAddress();
  void drawAll(all).then(holdAnchor()).then(() => prepareAll(all));

  let width = window.innerWidth;
  window.addEventListener("resize", () => {
    // Phones resize the window when their address bar hides: only the width matters.
    if (window.innerWidth === width) return;
    width = window.innerWidth;
    redraw();
  });
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => redraw());
  // On paper nothing can be opened: what is closed is shown, except tables of hundreds of rows and the workload of each step.
  let opened: HTMLDetailsElement[] = [];
  window.addEventListener("beforeprint", () => {
    opened = [...document.querySelectorAll<HTMLDetailsElement>("details:not([open]):not(.step, .steps, .points, .rest, .vast)")];
    for (const part of opened) part.open = true;
    document.documentElement.dataset["theme"] = "light";
    redraw(PRINTED);
  });
  window.addEventListener("afterprint", () => {
    for (const part of opened) part.open = false;
    delete document.documentElement.dataset["theme"];
    redraw();
  });

  for (const button of document.querySelectorAll<HTMLButtonElement>("button[data-run-json]")) {
    button.addEventListener("click", async () => {
      save(new Blob([await json(button.dataset["runJson"] ?? "")], { type: "application/json" }), button.dataset["file"] ?? "run.json");
    });
  }
}

void start();
