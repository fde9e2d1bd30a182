import { TransactWriteCommand } from "@aws-sdk/lib-dynamodb";
import { afterEach, expect, test, vi } from "vitest";
import { rebuild } from "../../../../lib/ops/counts/rebuild.ts";
import { startRebuild } from "../../../../lib/ops/counts/rebuild-roots.ts";
import { maintain } from "../../../../shared/pages/maintain/maintain.ts";
import { countedLists } from "../../../../shared/pages/tree/counted-list.ts";
import { emptyRoot } from "../../../../shared/pages/tree/root.ts";
import { commit, isTreeChanged, readRoot } from "../../../../shared/pages/tree/tree-store.ts";
import { putLeads, useMemoryTable } from "../../../support/memory-leads.ts";
import { smallLimits } from "../../../support/small-limits.ts";

const owner = { account: "acme", list: countedLists.lead };
const wait = async () => {};

afterEach(() => {
  vi.restoreAllMocks();
  vi.useRealTimers();
});

// Otherwise a maintainer that has read the old tree could commit over the new one.
test("a rebuild never repeats a version, although a maintainer commits just before the tree is replaced", async () => {
  vi.useFakeTimers({ toFake: ["Date"] });
  const count = () => maintain(owner, [], { deadline: Date.now() + 60_000, limits: smallLimits, wait });
  const versions: number[] = [];
  let swaps = 0;
  const memory = useMemoryTable(async (command, send) => {
    const { TransactItems = [] } = (command as TransactWriteCommand).input;
    if (command instanceof TransactWriteCommand && TransactItems.some(({ Delete }) => Delete)) {
      swaps++;
      if (swaps === 1) {
        await putLeads(memory, "acme", 20, 0);
        vi.setSystemTime(Date.now() + 20_000);
        await count();
      }
    }
    const output = await send(command);
    const root = [...memory.items()].find(({ sk }) => sk === "root");
    if (root && root.version !== versions.at(-1)) versions.push(Number(root.version));
    return output;
  });
  await putLeads(memory, "acme", 30);
  await count();
  await rebuild(owner, { limits: smallLimits, wait });
  expect(swaps).toBe(2);
  expect(versions).toEqual([...new Set(versions)].sort((a, b) => a - b));
});

/** Writes empty roots of these versions: of the live tree, and of a tree that a rebuild has abandoned. */
async function writeTrees({ live, abandoned }: { readonly live: number; readonly abandoned: number }) {
  useMemoryTable();
  for (let version = 0; version < live; version++)
    await commit(owner, "root", { ...emptyRoot(1), version }, []);
  for (let version = 0; version < abandoned; version++)
    await commit(owner, "next", { ...emptyRoot(1), version }, []);
}

test.each([
  { live: 2, abandoned: 5 },
  { live: 5, abandoned: 2 },
  { live: 3, abandoned: 0 },
])("a new tree has a later version than those of %o, so that no late commit replaces it", async (versions) => {
  await writeTrees(versions);
  const live = await readRoot(owner);
  const abandoned = await readRoot(owner, "next");
  if (!live) throw new Error("There is no live tree.");
  await startRebuild(owner, live, abandoned, live.statuses);
  for (const late of [live, ...(abandoned ? [abandoned] : [])]) {
    const next = await readRoot(owner, "next");
    expect(next?.version).toBeGreaterThan(late.version);
    const outcome = await commit(owner, "next", late, []).catch(isTreeChanged);
    expect(outcome).toBe(true);
  }
});
