import { expect, test } from "vitest";
import { readFrozenAt } from "../../../../shared/domain/frozen-accounts.ts";
import { useTablesOfCommands } from "../../../support/memory-tables.ts";
import { skipWaits } from "../../../support/skipped-waits.ts";
import { fillAccount, itemsOf } from "../support/full-account.ts";
import { accounts } from "./support/copy.ts";

useTablesOfCommands();
await fillAccount("acme");
await fillAccount("other");
const noCache = ["--cache-seconds", "0"];
const freeze = (account: string) => accounts("freeze", "--account", account, ...noCache);
const unfreeze = (account: string) => accounts("unfreeze", "--account", account);

test("a freeze waits for what the cache and the longest run can still write, also again, and names its time", async () => {
  const waits = skipWaits(async () => expect(await readFrozenAt("acme")).toBeDefined());
  const first = await accounts("freeze", "--account", "acme", "--cache-seconds", "60");
  const again = await freeze("acme");
  expect(waits.lengths).toEqual([95_000, 35_000]);
  expect(first.printed).toMatch(/may still write: waiting for 95 s\.$/);
  expect(again.output).toEqual(first.output);
  const frozen = { account: "acme", frozenAt: await readFrozenAt("acme") };
  expect([first.output, first.failure]).toEqual([frozen, undefined]);
  const list = (await accounts("list")).output as { account: string; frozen?: true }[];
  expect(list.map(({ account, frozen }) => [account, frozen])).toEqual([
    ["acme", true],
    ["other", undefined],
  ]);
  expect((await unfreeze("acme")).output).toEqual({ account: "acme", frozenAt: null });
  expect([await readFrozenAt("acme"), (await unfreeze("acme")).failure]).toEqual([undefined, undefined]);
});

test("a frozen account can be erased, and nothing is left of its freeze", async () => {
  skipWaits();
  await freeze("acme");
  const { failure } = await accounts("erase", "--account", "acme", "--yes", ...noCache);
  expect(failure).toBeUndefined();
  expect([...(await itemsOf("acme")).keys()].sort()).toEqual([
    "COUNT#acme#CONVERSATION root",
    "COUNT#acme#LEAD root",
  ]);
});
