/** The width of text, measured if there is a canvas, or else from the letter widths of a common font. */

import { format } from "echarts/core";

export function textWidth(text: string, size: number, font: string, bold = false): number {
  return format.getTextRect(text, `${bold ? "bold " : ""}${size}px ${font}`).width;
}

/** Breaks text into lines of a maximum width in pixels, at spaces if possible. */
export function broken(text: string, most: number, size: number, font: string, bold = false): string[] {
  const lines: string[] = [];
  for (const word of text.split(" ")) {
    const last = lines[lines.length - 1];
    const longer = last === undefined ? word : `${last} ${word}`;
    if (last !== undefined && textWidth(longer, size, font, bold) <= most) lines[lines.length - 1] = longer;
    else lines.push(word);
  }
  return lines;
}

/** Hundredths of the size that the letters from space to ~ are wide in DejaVu Sans, a wide font: what is made to fit it fits others too. */
const LETTERS = [
  32, 40, 46, 84, 64, 95, 78, 27, 39, 39, 50, 84, 32, 36, 32, 34, 64, 64, 64, 64, 64, 64, 64, 64, 64, 64, 34, 34, 84, 84, 84, 53, 100, 68, 69, 70, 77, 63, 58, 77, 75, 29, 29, 66,
  56, 86, 75, 79, 60, 79, 69, 63, 61, 73, 68, 99, 69, 61, 69, 39, 34, 39, 84, 50, 50, 61, 63, 55, 63, 62, 35, 63, 63, 28, 28, 58, 28, 97, 63, 61, 63, 63, 41, 52, 39, 63, 59, 82,
  59, 59, 52, 64, 34, 64, 84,
];
const OTHER = 66;
const WIDE = 100;
const BOLD = 1.12;

/** The width of text if nothing can measure it. */
export function estimatedWidth(text: string, font: string): number {
  const size = Number(/(\d+(?:\.\d+)?)px/.exec(font)?.[1] ?? 12);
  let sum = 0;
  for (const letter of text) {
    const code = letter.codePointAt(0) ?? 0;
    sum += LETTERS[code - 32] ?? (code < 0x1100 || (code >= 0x2000 && code < 0x2e80) ? OTHER : WIDE);
  }
  return (sum / 100) * size * (/bold|[6-9]00/.test(font) ? BOLD : 1);
}
