/** The state of the page in its address: which buttons are pressed, so that a view can be shared and opened again. */

type Control = HTMLButtonElement | HTMLSelectElement;

const CONTROLS = "button[data-group], select[data-group]";
/** In the fragment: files may not change anything else of their address. `#anchor;figure.group=2;figure.group=1` */
const APART = ";";

function keyOf(control: Control): string {
  return `${control.closest("figure[data-chart]")?.id ?? ""}.${control.dataset["group"] ?? ""}`;
}

function groups(): Map<string, Control[]> {
  const found = new Map<string, Control[]>();
  for (const control of document.querySelectorAll<Control>(CONTROLS)) {
    const key = keyOf(control);
    found.set(key, [...(found.get(key) ?? []), control]);
  }
  return found;
}

function pressed(controls: Control[]): number {
  const [first] = controls;
  if (first instanceof HTMLSelectElement) return first.selectedIndex;
  return controls.findIndex((button) => button.getAttribute("aria-pressed") === "true");
}

function press(controls: Control[], index: number): void {
  const [first] = controls;
  if (first instanceof HTMLSelectElement) {
    if (index >= first.options.length) return;
    first.selectedIndex = index;
    first.dispatchEvent(new Event("change", { bubbles: true }));
  } else controls[index]?.click();
}

function anchorOf(hash: string): string {
  return decodeURIComponent(hash.replace(/^#/, "").split(APART)[0] ?? "");
}

function statesOf(hash: string): [string, number][] {
  return hash
    .split(APART)
    .slice(1)
    .map((part): [string, number] => {
      const [key, index] = part.split("=");
      return [decodeURIComponent(key ?? ""), Number(index)];
    })
    .filter(([, index]) => Number.isInteger(index) && index >= 0);
}

/** Opens the parts that contain an element, and returns whether any was closed. */
function opened(found: Element | null): boolean {
  const closed = found?.closest<HTMLDetailsElement>("details:not([open])") ?? null;
  if (closed !== null) closed.open = true;
  return closed !== null;
}

/** Goes to the anchor of the address again, when charts above it have got their heights; not against a reader who has scrolled. */
export function holdAnchor(): () => void {
  let moved = false;
  for (const kind of ["wheel", "touchmove", "keydown", "pointerdown"]) {
    window.addEventListener(kind, () => (moved = true), { once: true, passive: true });
  }
  return () => {
    const anchor = anchorOf(location.hash);
    if (!moved && anchor !== "") document.getElementById(anchor)?.scrollIntoView();
  };
}

/** Keeps the address true to the buttons, and brings both to what the address says. Call it when the figures listen. */
export function followAddress(): void {
  const all = groups();
  const usual = new Map([...all].map(([key, controls]) => [key, pressed(controls)]));

  const written = (anchor: string): string => {
    const changed = [...all]
      .map(([key, controls]): [string, number] => [key, pressed(controls)])
      .filter(([key, index]) => index !== usual.get(key))
      .map(([key, index]) => `${encodeURIComponent(key)}=${index}`);
    return `#${[encodeURIComponent(anchor), ...changed].join(APART)}`;
  };
  const write = (anchor: string): void => {
    const hash = written(anchor);
    if (hash !== location.hash && !(hash === "#" && location.hash === "")) history.replaceState(null, "", hash);
  };
  const show = (anchor: string): void => {
    const found = anchor === "" ? null : document.getElementById(anchor);
    opened(found);
    found?.scrollIntoView();
  };

  const pressAll = (states: [string, number][]): void => {
    for (const [key, index] of states) {
      const controls = all.get(key);
      if (controls !== undefined && pressed(controls) !== index) press(controls, index);
    }
  };
  const restore = (): void => {
    const anchor = anchorOf(location.hash);
    pressAll(statesOf(location.hash));
    if (location.hash.includes(APART) || opened(document.getElementById(anchor))) show(anchor);
  };

  restore();
  let anchor = anchorOf(location.hash);
  const pressedSomething = (event: Event): void => {
    const control = event.target instanceof Element ? event.target.closest<Control>(CONTROLS) : null;
    if (control !== null) write(anchor);
  };
  document.addEventListener("click", (event) => {
    // A link to a figure that another button of its chart shows.
    const link = event.target instanceof Element ? event.target.closest<HTMLAnchorElement>("a[data-view]") : null;
    if (link !== null) pressAll(statesOf(`${APART}${link.dataset["view"] ?? ""}`));
    pressedSomething(event);
  });
  document.addEventListener("change", pressedSomething);
  window.addEventListener("hashchange", () => {
    // A link of the contents has only its anchor: what is pressed stays, and stands in the address again.
    restore();
    anchor = anchorOf(location.hash);
    write(anchor);
  });
}
