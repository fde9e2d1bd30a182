import { number } from "./report.ts";

// The picture is small, so that its texts are legible on a telephone.
const width = 480;
const [left, right, top, bottom] = [74, width - 72, 52, 280];
const title = "Read units of a page of 20 leads with its total";

/** The axes: from 1,000 leads to 1,000,000, and from 1 read unit to 100,000. */
const xOf = (leads: number) => Math.round(left + ((Math.log10(leads) - 3) / 3) * (right - left));
const yOf = (units: number) => Math.round(bottom - (Math.log10(units) / 5) * (bottom - top));

/** The lines of one way of counting have a colour, on light and on dark pages. The lines of one source are dashed. */
const style = `
  text { font: 14px system-ui, sans-serif; fill: #1f2937 }
  .title { font-size: 16px; font-weight: 600 }
  .background { fill: #ffffff }
  .grid { stroke: #d1d5db; stroke-width: 1 }
  g { color: #1d4ed8 }
  g.line1, g.line3 { color: #c2410c }
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

const text = (x: number, y: number, words: string, anchor = "middle") =>
  `<text x="${x}" y="${y}" text-anchor="${anchor}">${words}</text>`;

/** Draws read units over the number of leads. */
export function plot(lines: readonly { name: string; points: { leads: number; units: number }[] }[]): string {
  const height = bottom + 60 + 24 * lines.length;
  const drawn = lines.map(({ name, points }, n) => {
    const places = points.map(({ leads, units }) => [xOf(leads), yOf(units)]);
    const marks = places.map(([x, y]) => `<circle cx="${x}" cy="${y}" r="4"/>`).join("");
    const { units = 1 } = points.at(-1) ?? {};
    // The other two lines are too close to the first two for their own figures.
    const last = n < 2 ? text(right + 10, yOf(units) + 5, number(units), "start") : "";
    const y = bottom + 70 + 24 * n;
    const key = `<path d="M16 ${y}h36"/>${text(62, y + 5, name, "start")}`;
    return `<g class="line${n}"><path d="M${places.join("L")}"/>${marks}${last}${key}</g>`;
  });
  const grid = [3, 4, 5, 6].map((n) => {
    const x = xOf(10 ** n);
    return `<path class="grid" d="M${x} ${top}V${bottom}"/>${text(x, bottom + 20, number(10 ** n))}`;
  });
  const levels = [0, 1, 2, 3, 4, 5].map((n) => {
    const y = yOf(10 ** n);
    return `<path class="grid" d="M${left} ${y}H${right}"/>${text(left - 10, y + 4, number(10 ** n), "end")}`;
  });
  return `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" viewBox="0 0 ${width} ${height}" role="img" aria-labelledby="title">
<title id="title">${title}, over the size of the account</title>
<style>${style}</style>
<rect class="background" width="${width}" height="${height}"/>
<text class="title" x="16" y="28">${title}</text>
${[...grid, ...levels, text((left + right) / 2, bottom + 42, "leads in the account"), ...drawn].join("\n")}
</svg>
`;
}
