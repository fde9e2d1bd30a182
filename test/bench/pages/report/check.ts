import type { Spread } from "../../../support/statistics.ts";
import type { ListReading } from "../read-list.ts";
import { worstOf } from "./format.ts";

/** A limit on the cost of pages and changes, and the worst measured value. */
export interface Check {
  readonly what: string;
  readonly most: number;
  readonly measured: number;
  /** Exceeding an aim is not a failure. */
  readonly aim?: boolean;
}

export const check = (what: string, most: number, measured: readonly number[]): Check => ({
  ...{ what, most },
  measured: Math.max(...measured),
});

/** Limits the units and the round trips of pages of some lists, if there are any, and refusals. */
export function pageChecks(
  of: string,
  readings: readonly ListReading[],
  { units, trips }: { readonly units?: Spread; readonly trips: number },
): Check[] {
  if (readings.length === 0) return [];
  const measured = worstOf(readings, ({ units }) => units);
  return [
    ...(units
      ? [
          check(`${of}: median units`, units.median, [measured.median]),
          check(`${of}: worst units`, units.worst, [measured.worst]),
        ]
      : []),
    check(
      `${of}: round trips`,
      trips,
      readings.map(({ counted }) => counted.trips.worst),
    ),
    check(
      `${of}: refused pages`,
      0,
      readings.map(({ counted }) => counted.refused),
    ),
  ];
}
