import { crc32 } from "node:zlib";
import type { CountedOwner, SublistOwner } from "../tree/counted-list.ts";
import { type Limits, limits as productionLimits } from "../tree/tree-limits.ts";
import type { ChangedRow } from "./advance-sublist.ts";
import type { RowChange } from "./changes.ts";
import { inParallel } from "./in-parallel.ts";
import type { Maintenance } from "./maintain.ts";
import { maintainSublist } from "./maintain-sublist.ts";

/** The rows of a batch that are or were in a sublist. */
interface Part {
  readonly owner: SublistOwner;
  readonly rows: readonly RowChange[];
  readonly changed: readonly ChangedRow[];
}

/** How long a batch works on one sublist whose rows can wait, in milliseconds. */
const lookTime = 5000;

/** The sublists of rows. */
function partBySublist({ account, list }: CountedOwner, rows: readonly RowChange[]): Part[] {
  const parts = new Map<string, { owner: SublistOwner; rows: RowChange[]; changed: ChangedRow[] }>();
  for (const row of rows) {
    for (const sublist of row.sublists) {
      const id = `${sublist.index} ${sublist.partition}`;
      const part = parts.get(id) ?? { owner: { account, list, sublist }, rows: [], changed: [] };
      parts.set(id, part);
      part.rows.push(row);
      if (row.kind !== "created") part.changed.push({ key: row.key, backdated: row.kind === "backdated" });
    }
  }
  return [...parts.values()];
}

/** Whether a maintainer looks at the tail of a sublist: after many of its rows, or after one of few by chance. */
const isLookDue = ({ rows }: Part, { lookEvery, manyRows }: Limits) =>
  rows.length >= manyRows || rows.some(({ key }) => crc32(key) % lookEvery === 0);

/** What is left to do for the sublists of rows. */
interface Left {
  /** The keys of rows that are not counted in all of their sublists. */
  readonly rest: ReadonlySet<string>;
  /** An error for which a retry does not help. */
  readonly error: unknown;
}

/** Updates the trees of the sublists of rows that have been counted in the whole list. */
export async function maintainSublists(
  owner: CountedOwner,
  rows: readonly RowChange[],
  maintenance: Maintenance,
): Promise<Left> {
  const { limits = productionLimits, deadline } = maintenance;
  const rest = new Set<string>();
  let error: unknown;
  await inParallel(partBySublist(owner, rows), async (part) => {
    const { changed } = part;
    const look = isLookDue(part, limits);
    if (!look && changed.length === 0) return;
    const until = changed.length > 0 ? deadline : Math.min(deadline, Date.now() + lookTime);
    const left = await maintainSublist(part.owner, { changed, look }, { ...maintenance, deadline: until });
    for (const { key } of left.rest) rest.add(key);
    error ??= left.error;
  });
  return { rest, error };
}
