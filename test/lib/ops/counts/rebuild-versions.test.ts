import { TransactWriteCommand } from "@aws-sdk/lib-dynamodb";
import { afterEach, expect, test, vi } from "vitest";
import { rebuild } from "../../../../lib/ops/counts/rebuild.ts";
import { maintain } from "../../../../shared/pages/maintenance/maintain.ts";
import { countedLists } from "../../../../shared/pages/tree/counted-list.ts";
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
