import assert from "node:assert/strict";
import type { Item } from "../../../shared/dynamodb/table-client.ts";
import type { ReadPage } from "../programs.ts";
import { rowNumber } from "../rows.ts";
import type { Actor } from "./actors.ts";

/** By how many rows a total may be wrong, because changes are not counted yet. */
export interface Slack {
  readonly imported: number;
  readonly deleted: number;
}

/** A page that is being read while other steps happen, and what was true since the start of the read. */
export interface Reading extends Slack {
  readonly actor: Actor;
  readonly page: number;
  /** The rows that have matched all the time, and the rows that have matched at any time: bits of their numbers. */
  readonly always: number;
  readonly ever: number;
}

/** Rows as bits of their numbers. */
export const rowBits = (rows: readonly Item[]) =>
  rows.reduce((bits, { id }) => bits | (1 << rowNumber(String(id))), 0);

export const countBits = (bits: number): number => (bits === 0 ? 0 : (bits & 1) + countBits(bits >>> 1));

/** Adds the matching rows and the slack of the present state to a reading. */
export const watch = (reading: Reading, rows: number, slack: Slack): Reading => ({
  ...reading,
  always: reading.always & rows,
  ever: reading.ever | rows,
  imported: Math.max(reading.imported, slack.imported),
  deleted: Math.max(reading.deleted, slack.deleted),
});

/** Checks a page: its total includes every row that matched all the time, and no row that never matched. */
export function checkReading(
  { page, always, ever, imported, deleted }: Reading,
  { total, ids }: ReadPage,
): void {
  const [least, most] = [countBits(always) - imported, countBits(ever) + deleted];
  assert(total >= least && total <= most, `page ${page} has the total ${total}, not ${least} to ${most}`);
  assert.deepEqual(ids, [...new Set(ids)].sort().reverse(), `page ${page} is not in order`);
}
