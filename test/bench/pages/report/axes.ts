import { number } from "../../markdown.ts";
import { text } from "../../svg.ts";

/** The frame of a panel of the plot, in its units. */
export interface Frame {
  readonly left: number;
  readonly right: number;
  readonly top: number;
  readonly bottom: number;
}

/** A value's place on an axis, and the values that have a line across the panel. */
export interface Axis {
  readonly place: (value: number) => number;
  readonly ticks: readonly number[];
  readonly label: string;
}

const round = (value: number) => Math.round(value * 10) / 10;

/** An axis with a tick for each power of ten. */
export function logarithmic(
  [from, to]: readonly [number, number],
  [start, end]: readonly [number, number],
  label: string,
): Axis {
  const share = (value: number) => (Math.log10(Math.max(value, 10 ** from)) - from) / (to - from);
  return {
    place: (value) => round(start + share(value) * (end - start)),
    ticks: Array.from({ length: to - from + 1 }, (_, n) => 10 ** (from + n)),
    label,
  };
}

/** An axis from zero; larger values are drawn at its end. */
export function linear(
  most: number,
  step: number,
  [start, end]: readonly [number, number],
  label: string,
): Axis {
  return {
    place: (value) => round(start + (Math.min(value, most) / most) * (end - start)),
    ticks: Array.from({ length: most / step + 1 }, (_, n) => n * step),
    label,
  };
}

/** Draws the axes of a panel. */
export const drawAxes = ({ left, right, top, bottom }: Frame, x: Axis, y: Axis): string =>
  [
    ...x.ticks.map(
      (tick) =>
        `<path class="grid" d="M${x.place(tick)} ${top}V${bottom}"/>${text(x.place(tick), bottom + 20, number(tick), "middle")}`,
    ),
    ...y.ticks.map(
      (tick) =>
        `<path class="grid" d="M${left} ${y.place(tick)}H${right}"/>${text(left - 10, y.place(tick) + 4, number(tick), "end")}`,
    ),
    `<path class="axis" fill="none" d="M${left} ${top}V${bottom}H${right}"/>`,
    text((left + right) / 2, bottom + 44, x.label, "middle"),
    `<text text-anchor="middle" transform="translate(22 ${(top + bottom) / 2}) rotate(-90)">${y.label}</text>`,
  ].join("\n");
