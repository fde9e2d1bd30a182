import { number, table } from "../../markdown.ts";
import type { NamesReport } from "../names/read-names.ts";
import { both, units } from "./format.ts";

/** The lists of an account at the stages of the attack. */
export function namesTable(stages: readonly NamesReport[]): string {
  const [first] = stages;
  return table(
    ["filter", ...stages.map(({ stage }) => stage), "calls", "round trips"],
    [
      ["(bytes of the root)", ...stages.map(({ tree }) => number(tree.rootBytes)), "", ""],
      ...(first?.readings ?? []).map(({ name }, index) => {
        const readings = stages.flatMap(({ readings }) => readings[index]?.counted ?? []);
        const last = readings.at(-1);
        return [name, ...readings.map(units), ...(last ? [both(last.calls), both(last.trips)] : ["", ""])];
      }),
      ...stages.flatMap(({ newcomer }) =>
        newcomer.map(({ name, counted }) => [
          `${name} (the other source)`,
          ...stages.slice(1).map(() => ""),
          ...[units(counted), both(counted.calls), both(counted.trips)],
        ]),
      ),
    ],
  );
}
