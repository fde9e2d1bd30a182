import type { Spread } from "../../../support/statistics.ts";
import { number } from "../../markdown.ts";
import type { ListReading, Reading } from "../read-list.ts";

/** A median and the worst. */
export const both = ({ median, worst }: Spread, digits = 1) =>
  `${number(median, digits)} / ${number(worst, digits)}`;

/** The heads of the columns of a reading. */
export const readingHead = ["read units", "first, middle, last", "calls", "round trips", "ms"] as const;

/** The columns of a reading. */
export const readingCells = ({ counted, ends }: ListReading) => [
  units(counted),
  ends.map((units) => number(units)).join(", "),
  both(counted.calls),
  both(counted.trips),
  both(counted.milliseconds),
];

/** The units of a reading, and how many of its pages were refused. */
export const units = ({ units, refused, pages }: Reading) =>
  `${both(units)}${refused > 0 ? ` (${refused} of ${pages} refused)` : ""}`;

/** The worst of several lists' medians, and of all their pages. */
export const worstOf = (
  readings: readonly ListReading[],
  toSpread: (reading: Reading) => Spread,
): Spread => ({
  median: Math.max(...readings.map(({ counted }) => toSpread(counted).median)),
  worst: Math.max(...readings.map(({ counted }) => toSpread(counted).worst)),
});
