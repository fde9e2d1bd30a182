import { number } from "./markdown.ts";
import type { Report } from "./pages/report.ts";

// Small, so that its texts are legible on a telephone.
const width = 480;
const [left, right, top, bottom] = [74, width - 72, 52, 280];

/** From 1,000 leads to 1,000,000. */
const xOf = (leads: number) => Math.round(left + ((Math.log10(leads) - 3) / 3) * (right - left));

/** Lines of one list have a colour, on light and on dark pages; those of plain queries are dashed. */
const style = `
  text { font: 14px system-ui, sans-serif; fill: #1f2937 }
  .title { font-size: 16px; font-weight: 600 }
  .background { fill: #ffffff }
  .grid { stroke: #d1d5db; stroke-width: 1 }
  g { color: #1d4ed8 }
  g.line1, g.line3 { color: #c2410c }
  g.line4 { color: #6b7280 }
  g path { fill: none; stroke: currentColor; stroke-width: 2 }
  g circle { fill: currentColor }
  .line2 path, .line3 path { stroke-dasharray: 6 4 }
  @media (prefers-color-scheme: dark) {
    text { fill: #e5e7eb }
    .background { fill: #0d1117 }
    .grid { stroke: #30363d }
    g { color: #79a8ff }
    g.line1, g.line3 { color: #ff9b5e }
  }
`;

/** A text at a position, in the plot's units. */
const text = (x: number, y: number, words: string, anchor: "start" | "middle" | "end") =>
  `<text x="${x}" y="${y}" text-anchor="${anchor}">${words}</text>`;

/** Draws the cost of a page over the size of the account: the lowest value of the axis, and how many times ten it has. */
export function plot(lines: Report["lines"], title: string, lowest = 1, decades = 5): string {
  const height = bottom + 60 + 24 * lines.size;
  const yOf = (cost: number) => Math.round(bottom - (Math.log10(cost / lowest) / decades) * (bottom - top));
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" viewBox="0 0 ${width} ${height}" role="img" aria-labelledby="title">`,
    `<title id="title">${title}, over the size of the account</title>`,
    `<style>${style}</style>`,
    `<rect class="background" width="${width}" height="${height}"/>`,
    `<text class="title" x="16" y="28">${title}</text>`,
    ...[1000, 10_000, 100_000, 1_000_000].map((leads) => {
      const x = xOf(leads);
      return `<path class="grid" d="M${x} ${top}V${bottom}"/>${text(x, bottom + 20, number(leads), "middle")}`;
    }),
    ...Array.from({ length: decades + 1 }, (_, n) => {
      const cost = lowest * 10 ** n;
      const y = yOf(cost);
      return `<path class="grid" d="M${left} ${y}H${right}"/>${text(left - 10, y + 4, number(cost, 2), "end")}`;
    }),
    text((left + right) / 2, bottom + 42, "leads in the account", "middle"),
    ...[...lines].map(([name, points], n) => {
      const places = points.map(({ leads, median }) => [xOf(leads), yOf(median)] as const);
      const marks = places.map(([x, y]) => `<circle cx="${x}" cy="${y}" r="4"/>`).join("");
      const [x, y] = places.at(-1) ?? [0, 0];
      // The two other lines are too close for a figure of their own.
      const last = n < 2 ? text(x + 10, y + 5, number(points.at(-1)?.median ?? 0), "start") : "";
      const keyY = bottom + 70 + 24 * n;
      const key = `<path d="M16 ${keyY}h36"/>${text(62, keyY + 5, name, "start")}`;
      return `<g class="line${n}"><path d="M${places.join("L")}"/>${marks}${last}${key}</g>`;
    }),
    "</svg>",
    "",
  ].join("\n");
}
