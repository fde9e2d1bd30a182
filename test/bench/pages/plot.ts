import { darkStyle, lightStyle, text } from "../svg.ts";
import { filterName, type Reading } from "./reading.ts";
import type { AccountReport } from "./scenarios.ts";

const width = 760;
const height = 470;
const left = 84;
const right = 48;
const top = 56;
const bottom = 62;

/** The decades of the axes: leads of an account, read units of a page. */
const xDecades = [3, 6] as const;
const yDecades = [0, 5] as const;

const x = (leads: number) => scale(leads, xDecades, left, width - right);
const y = (units: number) => scale(units, yDecades, height - bottom, top);

function scale(value: number, [from, to]: readonly [number, number], start: number, end: number): number {
  const share = (Math.log10(Math.max(value, 10 ** from)) - from) / (to - from);
  return Math.round((start + share * (end - start)) * 10) / 10;
}

const style = `
${lightStyle}  polyline, .bar { fill: none; stroke: #1d4ed8; stroke-width: 2 }
  .plain polyline, .plain .bar { stroke: #c2410c }
  circle { fill: #1d4ed8 }
  .plain circle { fill: #c2410c }
  .filtered polyline { stroke-dasharray: 6 4 }
  @media (prefers-color-scheme: dark) {
${darkStyle}    polyline, .bar { stroke: #79a8ff }
    circle { fill: #79a8ff }
    .plain polyline, .plain .bar { stroke: #ff9b5e }
    .plain circle { fill: #ff9b5e }
  }
`;

/** A line of the plot: its label and the figures that it shows. */
interface Series {
  readonly label: string;
  readonly className: string;
  readonly filter: string;
  readonly reading: "plain" | "counted";
}

const series: readonly Series[] = [
  { label: "plain query, no filter", className: "plain", filter: "none", reading: "plain" },
  {
    label: "plain query, source = website",
    className: "plain filtered",
    filter: "website",
    reading: "plain",
  },
  { label: "counted tree, no filter", className: "counted", filter: "none", reading: "counted" },
  {
    label: "counted tree, source = website",
    className: "counted filtered",
    filter: "website",
    reading: "counted",
  },
];

/** Draws the cost of a page over the size of the account, both on logarithmic axes. */
export const plot = (accounts: readonly AccountReport[]): string =>
  [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" role="img" aria-labelledby="title">`,
    `<title id="title">Read units of a page of 20 leads over the size of the account</title>`,
    `<style>${style}</style>`,
    `<rect class="background" width="${width}" height="${height}"/>`,
    `<text class="title" x="${left}" y="30">Read units of a page of 20 leads: median, and a bar up to the worst</text>`,
    ...decades(xDecades).map(xTick),
    ...decades(yDecades).map(yTick),
    `<path class="axis" fill="none" d="M${left} ${top}V${height - bottom}H${width - right}"/>`,
    text((left + width - right) / 2, height - 16, "leads in the account", "middle"),
    `<text text-anchor="middle" transform="translate(22 ${(top + height - bottom) / 2}) rotate(-90)">read units of a page</text>`,
    ...series.map((line) => drawLine(line, accounts)),
    `<rect class="background" x="${left + 8}" y="${top + 8}" width="290" height="${series.length * 22 + 10}"/>`,
    ...series.map(drawLegend),
    "</svg>",
    "",
  ].join("\n");

const decades = ([from, to]: readonly [number, number]) =>
  Array.from({ length: to - from + 1 }, (_, n) => 10 ** (from + n));

const number = (value: number) => value.toLocaleString("en");

const xTick = (leads: number) =>
  `<path class="grid" d="M${x(leads)} ${top}V${height - bottom}"/>${text(x(leads), height - bottom + 20, number(leads), "middle")}`;

const yTick = (units: number) =>
  `<path class="grid" d="M${left} ${y(units)}H${width - right}"/>${text(left - 10, y(units) + 4, number(units), "end")}`;

function drawLine({ className, filter, reading }: Series, accounts: readonly AccountReport[]): string {
  const points = accounts.flatMap(({ size, readings }) => {
    const measured: Reading | undefined = readings.find((one) => filterName(one.filter) === filter)?.[
      reading
    ];
    if (!measured) return [];
    const { median, worst } = measured.units;
    return [{ atX: x(size), median: y(median), worst: y(worst) }];
  });
  return [
    `<g class="${className}">`,
    `<polyline points="${points.map(({ atX, median }) => `${atX},${median}`).join(" ")}"/>`,
    ...points.map(
      ({ atX, median, worst }) =>
        `<path class="bar" d="M${atX} ${median}V${worst}"/><circle cx="${atX}" cy="${median}" r="4"/>`,
    ),
    "</g>",
  ].join("");
}

function drawLegend({ label, className }: Series, index: number): string {
  const atY = top + 24 + index * 22;
  const atX = left + 20;
  return `<g class="${className}"><polyline points="${atX},${atY} ${atX + 36},${atY}"/><circle cx="${atX + 18}" cy="${atY}" r="4"/>${text(atX + 46, atY + 4, label, "start")}</g>`;
}
