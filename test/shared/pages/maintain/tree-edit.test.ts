import { TransactWriteCommand } from "@aws-sdk/lib-dynamodb";
import { describe, expect, test } from "vitest";
import { newId } from "../../../../shared/ids.ts";
import { readPaths } from "../../../../shared/pages/maintain/set-rows.ts";
import { editTree, type RowEdit } from "../../../../shared/pages/maintain/tree-edit.ts";
import { countedLists, keyAt } from "../../../../shared/pages/tree/counted-list.ts";
import { rowEntry } from "../../../../shared/pages/tree/entry.ts";
import { emptyRoot, type Root, rootItem } from "../../../../shared/pages/tree/root.ts";
import { type Limits, limits as production } from "../../../../shared/pages/tree/tree-limits.ts";
import { commit, readRoot, treeKey } from "../../../../shared/pages/tree/tree-store.ts";
import { seeded, shuffled } from "../../../support/cases/random.ts";
import { itemSize } from "../../../support/memory-table/item-size.ts";
import { smallLimits } from "../../../support/requests/small-limits.ts";
import { treeRows } from "../../../support/tables/tree-rows.ts";
import { WatchedTable } from "../../../support/tables/watched-table.ts";

const owner = { account: "a".repeat(64), list: countedLists.lead, labelKey: "a" };
const start = Date.UTC(2026, 0, 1);
const retry = <T>(call: () => Promise<T>) => call();

/** Sets rows in the tree, commit by commit. @returns the root */
async function setRows(edits: readonly RowEdit[], limits: Limits): Promise<Root> {
  const empty = { ...emptyRoot(start), watermark: keyAt(owner.list, Date.now()) };
  let root = (await readRoot(owner)) ?? empty;
  for (let rest = edits.toSorted((a, b) => (a.sk < b.sk ? -1 : 1)); rest.length > 0; ) {
    const sks = rest.map(({ sk }) => sk);
    const { paths, reached } = await readPaths(owner, root, sks, { limits, retry });
    const edited = editTree(root, paths, rest.slice(0, reached.length), limits);
    expect(edited.used).toBeGreaterThan(0);
    root = await commit(owner, edited.root, edited.nodes);
    rest = rest.slice(edited.used);
  }
  return root;
}

describe.each<[string, Limits, { readonly rows: number; readonly level: number }]>([
  ["small nodes", smallLimits, { rows: 160, level: 3 }],
  [
    "small nodes and few commits",
    { ...smallLimits, nodesRead: 40, nodesWritten: 95 },
    { rows: 160, level: 3 },
  ],
  ["the smallest nodes", { ...smallLimits, ...{ nodeRows: 2, nodeEntries: 2 } }, { rows: 20, level: 4 }],
  ["the nodes of production", production, { rows: 8400, level: 2 }],
])("a tree with %s", (_, limits, { rows, level }) => {
  test("has its rows in order, whatever is set and however often", async () => {
    const largest = { commit: 0, root: 0 };
    const table = new WatchedTable();
    table.before = (command) => {
      if (command instanceof TransactWriteCommand)
        largest.commit = Math.max(largest.commit, command.input.TransactItems?.length ?? 0);
    };
    const random = seeded(1);
    const keys = Array.from({ length: rows }, (_, i) => newId("lead", start + i * 1000));
    const expected = new Map<string, number>();
    let deepest = 0;
    const parts = [
      keys,
      ...Array.from({ length: 3 }, () => shuffled(random, keys).slice(0, Math.min(300, rows / 3))),
    ];
    for (const part of parts) {
      const edits = part.map((sk) => ({ sk, bucket: [0, 1, 2, undefined][Math.floor(random() * 4)] }));
      const root = await setRows(edits, limits);
      for (const { sk, bucket } of edits) {
        if (bucket === undefined) expected.delete(sk);
        else expected.set(sk, bucket);
      }
      const rows = [...expected].sort().map(([sk, bucket]) => rowEntry(sk, bucket));
      expect(treeRows(table.memory.items(), owner, root)).toEqual(rows);
      deepest = Math.max(deepest, root.level);
      largest.root = Math.max(largest.root, itemSize(fullRoot(root)));
    }
    expect(deepest).toBeGreaterThanOrEqual(level);
    expect(largest.commit).toBeLessThanOrEqual(100);
    // A larger root would cost every list another half unit.
    expect(largest.root).toBeLessThan(4096);
  });
});

/** The item of a root with all attributes. */
function fullRoot(root: Root) {
  const [key, time] = [newId("lead"), Date.now()];
  const others = { bufferStart: key, watermark: key, fed: key };
  return { ...treeKey(owner, "root"), ...rootItem({ ...root, ...others, expiresAt: time }) };
}
