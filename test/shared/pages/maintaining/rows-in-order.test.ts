import { expect, test } from "vitest";
import { TreeEdit } from "../../../../shared/pages/maintain/tree-edit.ts";
import { countedLists } from "../../../../shared/pages/tree/counted-list.ts";
import type { Entry } from "../../../../shared/pages/tree/entry.ts";
import { emptyRoot } from "../../../../shared/pages/tree/root.ts";
import { readNode, readRoot } from "../../../../shared/pages/tree/tree-store.ts";
import { useMemoryTable } from "../../../support/memory-leads.ts";
import { pick, seeded } from "../../../support/random.ts";
import { smallLimits } from "../../../support/small-limits.ts";

const sublist = { index: "by-origin", partition: "a" } as const;
const owner = { account: "acme", list: countedLists.lead, sublist };
const keys = Array.from({ length: 12 }, (_, i) => `lead_01KDVD${String(i).padStart(3, "0")}4C4FEZDQK8YZG`);

/** The sort keys of the rows in the tree, in its order. */
async function readKeys(): Promise<readonly string[]> {
  const root = (await readRoot(owner)) ?? emptyRoot(1);
  let { entries } = root;
  for (let level = root.level; level > 0; level--) {
    const below: Entry[] = [];
    for (const { start } of entries)
      below.push(...((await readNode(owner, root.generation, level, start)) ?? []));
    entries = below;
  }
  return entries.map(({ start }) => start);
}

test.each(
  Array.from({ length: 40 }, (_, seed) => seed),
)("the tree of a sublist has its rows in order, whatever the order in which they came (%i)", async (seed) => {
  useMemoryTable();
  const random = seeded(seed);
  const rows = new Set<string>();
  for (let commits = 0; commits < 12; commits++) {
    const edit = new TreeEdit(owner, (await readRoot(owner)) ?? emptyRoot(1), { limits: smallLimits });
    for (let changes = 0; changes < 3; changes++) {
      const sk = pick(random, keys);
      const added = random() < 0.6;
      rows[added ? "add" : "delete"](sk);
      await edit.setRow(sk, added ? { start: sk, cells: new Map([[0, 1]]) } : undefined);
    }
    await edit.commit("root");
    expect(await readKeys()).toEqual([...rows].sort());
  }
});
