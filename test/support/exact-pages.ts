import { expect } from "vitest";
import type { CountedOwner } from "../../shared/pages/tree/counted-list.ts";
import { readRoot } from "../../shared/pages/tree/tree-store.ts";
import type { ConversationsQuery } from "../../shared/schemas/conversation-schemas.ts";
import type { ConversationHistory } from "./conversation-history.ts";

/** How many calls a page may make: two roots, the newest rows, the tail, two nodes on each of two paths, and the rows. */
const mostCalls = 8;

/**
 * Compares pages with those of the model: the first and the last ones, those around the first one of the tree, and those
 * past the end.
 *
 * @param owner of the tree
 */
export async function expectExactPages(
  history: ConversationHistory,
  owner: CountedOwner,
  filters: readonly ConversationsQuery[],
  limits: readonly number[] = [1, 7, 20, 100],
): Promise<void> {
  const watermark = (await readRoot(owner))?.watermark ?? "";
  for (const filter of filters) {
    const all = history.expected(filter, { page: 1, limit: 10_000 }).data;
    const inTail = all.filter(({ id }) => id >= watermark).length;
    for (const limit of limits) {
      const border = Math.floor(inTail / limit) + 1;
      const last = Math.ceil(all.length / limit);
      for (const page of new Set([1, 2, border - 1, border, border + 1, last - 1, last, last + 1, 10_000])) {
        if (page < 1) continue;
        const request = { page, limit };
        const { result, calls } = await history.table.watch(() => history.list(filter, request));
        const named = JSON.stringify({ filter, request });
        expect(result, named).toEqual(history.expected(filter, request));
        expect(calls.length, named).toBeLessThanOrEqual(mostCalls);
      }
    }
  }
}
