import { darkStyle, lightStyle, text } from "../../svg.ts";
import type { Results } from "../parts.ts";
import { type Axis, drawAxes, type Frame, linear, logarithmic } from "./axes.ts";
import { type Series, sublists, wholeLists } from "./series.ts";

const width = 760;
const height = 980;
const left = 84;
const right = width - 48;

const upper: Frame = { left, right, top: 56, bottom: 400 };
const lower: Frame = { left, right, top: 546, bottom: 846 };

/** The colours of the lines, on light and on dark pages. */
const colours = [
  ["counted", "#1d4ed8", "#79a8ff"],
  ["plain", "#c2410c", "#ff9b5e"],
  ["sources-1", "#1d4ed8", "#79a8ff"],
  ["sources-16", "#0f766e", "#5eead4"],
  ["sources-200", "#7c3aed", "#c4a5ff"],
  ["sources-10000", "#c2410c", "#ff9b5e"],
] as const;

const colourOf = (className: string, colour: string) =>
  `  .${className} polyline, .${className} .bar { stroke: ${colour} }\n  .${className} circle { fill: ${colour} }\n`;

const style = `
${lightStyle}  polyline, .bar { fill: none; stroke-width: 2 }
  .dashed polyline { stroke-dasharray: 6 4 }
  .limit { stroke: #6b7280; stroke-width: 1.5; stroke-dasharray: 2 4 }
${colours.map(([className, light]) => colourOf(className, light)).join("")}  @media (prefers-color-scheme: dark) {
${darkStyle}${colours.map(([className, , dark]) => colourOf(className, dark)).join("")}  }
`;

/** Draws the cost of a page over the size of the account, and of the lists of one source. */
export function plot(results: Results): string {
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" role="img" aria-labelledby="title">`,
    `<title id="title">Read units of a page of 20 rows over the size of the list</title>`,
    `<style>${style}</style>`,
    `<rect class="background" width="${width}" height="${height}"/>`,
    ...drawWholeLists(wholeLists(results)),
    ...drawSublists(sublists(results)),
    "</svg>",
    "",
  ].join("\n");
}

const sizes = (label: string) => logarithmic([3, 6], [left, right], label);

function drawWholeLists(series: readonly Series[]): string[] {
  const { top, bottom } = upper;
  const x = sizes("leads in the account");
  const y = logarithmic([0, 5], [bottom, top], "read units of a page");
  return [
    `<text class="title" x="${left}" y="30">Read units of a page of 20 leads: median, and a bar up to the worst</text>`,
    drawAxes(upper, x, y),
    ...series.map((line) => drawLine(line, x, y)),
    `<rect class="background" x="${left + 8}" y="${top + 8}" width="250" height="${series.length * 22 + 10}"/>`,
    ...series.map((line, index) => drawKey(line, left + 20, top + 24 + index * 22)),
  ];
}

/** The most units of a page that the benchmark accepts. */
const limits = [
  [11, "limit of the median"],
  [17, "limit of the worst"],
] as const;

function drawSublists(series: readonly Series[]): string[] {
  const { top, bottom } = lower;
  const x = sizes("leads in the account");
  const y = linear(20, 5, [bottom, top], "read units of a page");
  return [
    `<text class="title" x="${left}" y="${top - 46}">Lists of one source</text>`,
    text(left, top - 24, "The worst of the lists' medians, and a bar up to the worst page", "start"),
    drawAxes(lower, x, y),
    ...limits.map(
      ([units, label]) =>
        `<path class="limit" d="M${left} ${y.place(units)}H${right}"/>${text(right - 40, y.place(units) - 6, label, "end")}`,
    ),
    // Apart, so that the bars of one size can be told from each other.
    ...series.map((line, index) => drawLine(line, x, y, (index - (series.length - 1) / 2) * 7)),
    ...series.map((line, index) =>
      drawKey(line, left + (index % 3) * 210, bottom + 78 + Math.floor(index / 3) * 24),
    ),
  ];
}

function drawLine({ className, points }: Series, x: Axis, y: Axis, shift = 0): string {
  const places = points.map(({ size, units }) => ({
    ...{ atX: x.place(size) + shift, median: y.place(units.median), worst: y.place(units.worst) },
  }));
  return [
    `<g class="${className}">`,
    `<polyline points="${places.map(({ atX, median }) => `${atX},${median}`).join(" ")}"/>`,
    ...places.map(
      ({ atX, median, worst }) =>
        `<path class="bar" d="M${atX} ${median}V${worst}"/><circle cx="${atX}" cy="${median}" r="4"/>`,
    ),
    "</g>",
  ].join("");
}

const drawKey = ({ label, className }: Series, atX: number, atY: number) =>
  `<g class="${className}"><polyline points="${atX},${atY} ${atX + 36},${atY}"/><circle cx="${atX + 18}" cy="${atY}" r="4"/>${text(atX + 46, atY + 4, label, "start")}</g>`;
