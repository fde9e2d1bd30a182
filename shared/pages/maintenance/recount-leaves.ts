import type { Retry } from "../../dynamodb/retry.ts";
import type { CountedOwner } from "../tree/counted-list.ts";
import { readRows } from "../tree/rows.ts";
import type { Limits } from "../tree/tree-limits.ts";
import { recountLeaf } from "./recount.ts";
import type { TreeEdit } from "./tree-edit.ts";

/** How many leaves of a list are read at once. */
const parallelLeaves = 8;

/**
 * Recounts the leaves of keys.
 *
 * @returns the keys that have to wait for the next commit, because this one is full or has been reading for long
 */
export async function recountLeaves(
  edit: TreeEdit,
  keys: readonly string[],
  { owner, limits, retry }: { readonly owner: CountedOwner; readonly limits: Limits; readonly retry?: Retry },
): Promise<readonly string[]> {
  const start = Date.now();
  let rest = [...new Set(keys)].sort();
  while (rest.length > 0 && edit.size < limits.commitNodes && Date.now() < start + limits.commitTime) {
    const found = await all(rest.slice(0, parallelLeaves).map((key) => edit.findLeaf(key)));
    const ranges = new Map(found.map((range) => [range.start, range])).values();
    const leaves = await all(
      Array.from(ranges, async (range) => ({
        ...range,
        rows: await readRows(owner, range, { maxRows: limits.rangeRows, retry }),
      })),
    );
    for (const { start, end, rows } of leaves) {
      if (edit.size >= limits.commitNodes) break;
      const { leaves, statuses, pending } = recountLeaf(start, rows, edit.root.statuses, limits);
      await edit.replaceLeaf(start, leaves);
      const others = edit.root.pending.filter((waiting) => waiting !== start);
      edit.root = { ...edit.root, statuses, pending: pending === undefined ? others : [...others, pending] };
      // The newest leaf may be empty, so that its start is its end.
      rest = rest.filter((key) => key !== start && (key < start || key >= end));
    }
  }
  return rest;
}

/** Waits for all, so that none goes on after another has failed. @throws the first error */
async function all<T>(promises: readonly Promise<T>[]): Promise<T[]> {
  await Promise.allSettled(promises);
  return Promise.all(promises);
}
