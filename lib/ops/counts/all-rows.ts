import { setTimeout } from "node:timers/promises";
import { listConversations } from "../../../shared/domain/conversations.ts";
import { listLeads } from "../../../shared/domain/leads.ts";
import type { CountedRow } from "../../../shared/pages/tree/counted-list.ts";
import { type Rows, readRows } from "../../../shared/pages/tree/rows.ts";
import { limits as deployedLimits, type Limits } from "../../../shared/pages/tree/tree-limits.ts";
import type { CountedOwner } from "../../../shared/pages/tree/tree-store.ts";
import { Pace } from "../pace.ts";
import type { Wait } from "../retry-while-busy.ts";

/** How a command reads a list. */
export interface Reading {
  readonly limits: Limits;
  readonly pace: Pace;
  readonly wait: Wait;
  /** Called with the number of rows after each read. */
  readonly onRows: (rows: number) => void;
}

/** Adds the defaults. */
export function toReading({ wait = setTimeout, ...options }: Partial<Reading>): Reading {
  return { limits: deployedLimits, pace: new Pace(undefined, wait), wait, onRows: () => {}, ...options };
}

/** Reads each page when the pace allows it. */
export const paced = (pace: Pace) => ({
  retry: pace.retry,
  onPage: ({ units }: { readonly units: number }) => pace.spend(units),
});

/** Reads the rows from a sort key to before another (without it, to the end of the list), part by part. */
export async function* readAllRows(
  owner: CountedOwner,
  { start, end }: { readonly start: string; readonly end?: string },
  { limits, pace, onRows }: Reading,
): AsyncGenerator<readonly CountedRow[]> {
  for (let from: string | undefined = start; from !== undefined; ) {
    const part: Rows = await readRows(
      owner,
      { start: from, end },
      { ...paced(pace), maxRows: limits.rangeRows },
    );
    onRows(part.rows.length);
    yield part.rows;
    from = part.next;
  }
}

/** The number of rows of a list, as the API returns it. */
export async function totalRows({ account, list }: CountedOwner): Promise<number> {
  const read = list.type === "lead" ? listLeads : listConversations;
  return (await read(account, {}, { page: 1, limit: 1 })).pagination.total;
}
