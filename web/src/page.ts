/** Starts the page: charts are drawn as they come into view, and again when the theme or the width changes. */

import { save } from "./downloads";
import { Figure } from "./figure";
import type { Page } from "./spec";

/** How far below the window a chart is drawn already. */
const AHEAD = "600px";

function data<T>(id: string): T {
  return JSON.parse(document.getElementById(id)?.textContent ?? "null") as T;
}

function figures(page: Page): Map<Element, Figure> {
  const found = new Map<Element, Figure>();
  for (const element of document.querySelectorAll<HTMLElement>("figure[data-chart]")) {
    const plot = element.querySelector<HTMLElement>(".plot");
    const spec = page.charts[element.dataset["chart"] ?? ""];
    if (plot !== null && spec !== undefined) found.set(element, new Figure(element, plot, spec, page));
  }
  return found;
}

function start(): void {
  const all = figures(data<Page>("page-data"));
  const redraw = () => {
    for (const figure of all.values()) if (figure.drawn) void figure.draw();
  };

  const watcher = new IntersectionObserver(
    (entries) => {
      for (const { isIntersecting, target } of entries) {
        if (!isIntersecting) continue;
        watcher.unobserve(target);
        void all.get(target)?.draw();
      }
    },
    { rootMargin: AHEAD },
  );
  for (const element of all.keys()) watcher.observe(element);

  let width = window.innerWidth;
  window.addEventListener("resize", () => {
    // Phones resize the window when their address bar hides: only the width matters.
    if (window.innerWidth === width) return;
    width = window.innerWidth;
    redraw();
  });
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", redraw);
  window.addEventListener("beforeprint", () => {
    document.documentElement.dataset["theme"] = "light";
    for (const figure of all.values()) void figure.draw();
  });
  window.addEventListener("afterprint", () => {
    delete document.documentElement.dataset["theme"];
    redraw();
  });

  for (const button of document.querySelectorAll<HTMLButtonElement>("button[data-run-json]")) {
    button.addEventListener("click", () => {
      const text = document.getElementById(button.dataset["runJson"] ?? "")?.textContent ?? "";
      save(new Blob([text], { type: "application/json" }), button.dataset["file"] ?? "run.json");
    });
  }
}

start();
