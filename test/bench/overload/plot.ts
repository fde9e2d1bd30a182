import { darkStyle, lightStyle, text } from "../svg.ts";
import type { Results } from "./results.ts";
import type { SteadyPlan } from "./steady.ts";
import type { Line } from "./summary.ts";

const width = 760;
const panelHeight = 190;
const left = 84;
const right = 48;
const top = 92;
const gap = 46;

/** The decades of the ages, in seconds. */
const decades = [0, 1, 2, 3] as const;

/** The loads that are hardest, because each list reads the leads of the last seconds, on a table without a burst. */
const shown = ({ burstSeconds, createsPerSecond, listsPerSecond }: SteadyPlan) =>
  burstSeconds === 0 && createsPerSecond * listsPerSecond >= 2500;

const style = `
${lightStyle}  polyline { fill: none; stroke: #c2410c; stroke-width: 2 }
  .last polyline { stroke: #1d4ed8 }
  .neighbour polyline { stroke-dasharray: 6 4 }
  .tail polyline { stroke-dasharray: 1 3 }
  @media (prefers-color-scheme: dark) {
${darkStyle}    polyline { stroke: #ff9b5e }
    .last polyline { stroke: #79a8ff }
  }
`;

/** A line of the plot: its label and its age over time with each plan. */
interface Series {
  readonly label: string;
  readonly className: string;
  readonly of: (plan: SteadyPlan) => Ages;
}

/** Ages at times, both in seconds. */
interface Ages {
  readonly seconds: readonly number[];
  readonly ages: readonly number[];
}

/** Draws the age of the stream for an account and its neighbour, and of its tail, over time, for the hardest loads. */
export function plot(runs: readonly Results[]): string {
  const plans = (runs[0]?.steady ?? []).map(({ plan }) => plan).filter(shown);
  const series = runs.flatMap((run, at) => seriesOf(run, at === runs.length - 1));
  const minutes = Math.max(
    1,
    ...plans.flatMap((plan) => series.map(({ of }) => (of(plan).seconds.at(-1) ?? 0) / 60)),
  );
  const height = top + plans.length * (panelHeight + gap) + 12;
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" role="img" aria-labelledby="title">`,
    `<title id="title">The age of the stream over time under overload</title>`,
    `<style>${style}</style>`,
    `<rect class="background" width="${width}" height="${height}"/>`,
    `<text class="title" x="${left}" y="30">Ages of the oldest change not delivered and of the oldest lead not counted</text>`,
    ...series.map(drawLegend),
    ...plans.map((plan, at) => drawPanel(plan, series, minutes, top + at * (panelHeight + gap))),
    "</svg>",
    "",
  ].join("\n");
}

function seriesOf({ label, steady }: Results, last: boolean): Series[] {
  const find = (wanted: SteadyPlan) =>
    steady.find(({ plan }) => JSON.stringify(plan) === JSON.stringify(wanted));
  const run = last ? "last" : "first";
  const ages = (line: Line | undefined, kind: "streamAge" | "tailAge") => ({
    seconds: line?.seconds ?? [],
    ages: line?.[kind] ?? [],
  });
  return [
    {
      label: `${label}: changes`,
      className: `${run} account`,
      of: (plan) => ages(find(plan)?.account, "streamAge"),
    },
    {
      label: "of a neighbour",
      className: `${run} neighbour`,
      of: (plan) => ages(find(plan)?.neighbour, "streamAge"),
    },
    {
      label: "uncounted leads",
      className: `${run} tail`,
      of: (plan) => ages(find(plan)?.account, "tailAge"),
    },
  ];
}

function drawPanel(plan: SteadyPlan, series: readonly Series[], minutes: number, panelTop: number): string {
  const bottom = panelTop + panelHeight;
  const x = (seconds: number) => round(left + (seconds / 60 / minutes) * (width - right - left));
  const y = (age: number) =>
    round(bottom - (Math.log10(Math.max(1, Math.min(10 ** 3.5, age))) / 3.5) * (panelHeight - 20));
  const lines = series.map(({ className, of }) => {
    const { seconds, ages } = of(plan);
    const points = seconds.map((at, index) => `${x(at)},${y(ages[index] ?? 0)}`).join(" ");
    return `<g class="${className}"><polyline points="${points}"/></g>`;
  });
  const { createsPerSecond, listsPerSecond, leadBytes } = plan;
  return [
    text(
      left,
      panelTop + 8,
      `${createsPerSecond} creates + ${listsPerSecond} lists/s, ${leadBytes} B`,
      "start",
    ),
    ...decades.map((decade) => yTick(10 ** decade, y(10 ** decade))),
    ...[0, 5, 10, 15, 20, 25, 30]
      .filter((tick) => tick <= minutes)
      .map((tick) => xTick(tick, x(tick * 60), bottom)),
    `<path class="axis" fill="none" d="M${left} ${panelTop + 16}V${bottom}H${width - right}"/>`,
    ...lines,
  ].join("");
}

const round = (value: number) => Math.round(value * 10) / 10;

const yTick = (age: number, atY: number) =>
  `<path class="grid" d="M${left} ${atY}H${width - right}"/>${text(left - 10, atY + 4, `${age} s`, "end")}`;

const xTick = (minutes: number, atX: number, bottom: number) =>
  `<path class="axis" d="M${atX} ${bottom}v4"/>${text(atX, bottom + 20, `${minutes} min`, "middle")}`;

function drawLegend({ label, className }: Series, index: number): string {
  const atX = left + (index % 3) * 220;
  const atY = 52 + Math.floor(index / 3) * 20;
  return `<g class="${className}"><polyline points="${atX},${atY} ${atX + 36},${atY}"/>${text(atX + 46, atY + 4, label, "start")}</g>`;
}
