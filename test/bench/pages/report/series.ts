import type { Spread } from "../../../support/statistics.ts";
import type { Results } from "../parts.ts";
import { worstOf } from "./format.ts";

/** A line of the plot: the cost of a page over a size. */
export interface Series {
  readonly label: string;
  readonly className: string;
  readonly points: readonly { readonly size: number; readonly units: Spread }[];
}

/** The lists of a whole account, counted and with plain queries. */
export const wholeLists = ({ sizes }: Results): Series[] =>
  (
    [
      ["plain query, no filter", "plain", "none", "plain"],
      ["plain query, source = website", "plain dashed", "website", "plain"],
      ["counted, no filter", "counted", "none", "counted"],
      ["counted, source = website", "counted dashed", "website", "counted"],
    ] as const
  ).map(([label, className, filter, reading]) => ({
    ...{ label, className },
    points: sizes.flatMap(({ size, readings }) => {
      const units = readings.find(({ name }) => name === filter)?.[reading]?.units;
      return units ? [{ size, units }] : [];
    }),
  }));

/** The lists of one source by the number of sources: the most expensive of each account. */
export const sublists = ({ sources }: Results): Series[] =>
  [1, 16, 200, 10_000].map((number) => ({
    label: `one of ${number === 1 ? "1 source" : `${number.toLocaleString("en")} sources`}`,
    className: `sources-${number}`,
    points: sources
      .filter(({ distribution }) => distribution.sources === number && distribution.skewed)
      .map(({ size, sources }) => ({
        size,
        units: worstOf(
          sources.flatMap(({ readings }) => readings),
          ({ units }) => units,
        ),
      })),
  }));
