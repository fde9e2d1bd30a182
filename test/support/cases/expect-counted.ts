import { expect } from "vitest";
import { accountPartition } from "../../../shared/dynamodb/keys.ts";
import { bucketOf, countedLists } from "../../../shared/pages/tree/counted-list.ts";
import { countEntries, rowEntry } from "../../../shared/pages/tree/entry.ts";
import type { Root } from "../../../shared/pages/tree/root.ts";
import { readRoot } from "../../../shared/pages/tree/tree-store.ts";
import { treeRows } from "../tables/tree-rows.ts";
import type { LeadHistory } from "./history.ts";

/** The tree of an account's leads, or of its leads of one source. */
export const treeOf = ({ account, owner }: LeadHistory, source?: string) => ({
  ...owner,
  labelKey: source && accountPartition("lead", account, source),
});

/** How many rows the tree of an account's leads counts. */
export async function countedRows(account: string): Promise<number> {
  const { entries = [], buffer = [] } = (await readRoot({ account, list: countedLists.lead })) ?? {};
  return countEntries([...entries, ...buffer]);
}

/** Checks that the trees of a list and of some sources have the rows before their watermarks, and all rows that were fed. */
export async function expectCounted(history: LeadHistory, sources: readonly string[] = []): Promise<Root> {
  const list = await expectTree(history);
  for (const source of sources) {
    const { watermark } = await expectTree(history, source);
    const isMissed = ({ id, ...lead }: { readonly id: string; readonly source?: string }) =>
      lead.source === source && id >= watermark && id < (list.fed ?? "");
    expect([...history.rows.values()].filter(isMissed), source).toEqual([]);
  }
  return list;
}

async function expectTree(history: LeadHistory, source?: string): Promise<Root> {
  const owner = treeOf(history, source);
  const root = await readRoot(owner);
  if (!root) throw new Error(`There is no tree of ${source ?? "the list"}.`);
  const found = treeRows(history.table.memory.items(), owner, root);
  const expected = [...history.rows.values()]
    .filter((lead) => lead.id < root.watermark && (source === undefined || lead.source === source))
    .sort((a, b) => (a.id < b.id ? -1 : 1))
    .map(({ id, status }) => rowEntry(id, bucketOf(owner.list, status)));
  expect(found, source ?? "the list").toEqual(expected);
  return root;
}

/** Compares pages of lists with the pages of a model. */
export async function expectLists<Filter, Request>(
  history: {
    list(filter: Filter, request?: Request): Promise<unknown>;
    expected(filter: Filter, request?: Request): unknown;
  },
  filters: readonly NoInfer<Filter>[],
  requests: readonly (NoInfer<Request> | undefined)[] = [undefined],
): Promise<void> {
  for (const filter of filters) {
    for (const request of requests) {
      const named = JSON.stringify({ filter, request });
      expect(await history.list(filter, request), named).toEqual(history.expected(filter, request));
    }
  }
}
