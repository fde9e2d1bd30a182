import { number, table } from "../../markdown.ts";
import type { WindowsReport } from "../windows/read-windows.ts";
import { type Check, check } from "./check.ts";
import { both, units } from "./format.ts";

/** Limits how much more windows cost than the list itself. */
export const windowsChecks = (accounts: readonly WindowsReport[]): Check[] =>
  accounts.flatMap(({ size, readings, byId, byEmail }) => {
    const of = `${number(size)} leads`;
    const bounded = readings.filter(({ pages }) => pages !== "first, no end");
    return [
      check(
        `${of}, windows: median units over those of the list's pages`,
        1.5,
        bounded.map(({ windows, list }) => windows.units.median / list.units.median),
      ),
      check(
        `${of}, windows: round trips over those of the list's pages`,
        1.5,
        bounded.map(({ windows, list }) => windows.trips.median / list.trips.median),
      ),
      check(
        `${of}, windows: calls`,
        8,
        readings.map(({ windows }) => windows.calls.worst),
      ),
      check(
        `${of}, windows: refused pages`,
        0,
        readings.map(({ windows }) => windows.refused),
      ),
      check(`${of}, by id or email: units`, 2, [byId.units.worst, byEmail.units.worst]),
      check(`${of}, by id or email: round trips`, 1, [byId.trips.worst, byEmail.trips.worst]),
    ];
  });

/** Windows of the lists of an account. */
export const windowsTable = (accounts: readonly WindowsReport[]) =>
  table(
    [
      ...["leads", "filter", "page", "read units", "calls", "round trips", "ms"],
      ...["the list's: read units", "round trips", "plain: read units", "round trips"],
    ],
    accounts.flatMap(({ size, readings, byId, byEmail }) => [
      ...readings.map(({ filter, pages, windows, list, plain }) => [
        ...[number(size), filter, pages, units(windows), both(windows.calls), both(windows.trips)],
        ...[both(windows.milliseconds), units(list), both(list.trips), both(plain.units), both(plain.trips)],
      ]),
      ...[byId, byEmail].map((reading, index) => [
        ...[number(size), index === 0 ? "id" : "email", "first", units(reading), both(reading.calls)],
        ...[both(reading.trips), both(reading.milliseconds), "", "", "", ""],
      ]),
    ]),
  );
