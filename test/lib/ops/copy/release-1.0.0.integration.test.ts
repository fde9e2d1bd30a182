import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { type Item, tableName } from "../../../../shared/dynamodb/table-client.ts";
import { call } from "../../../support/call.ts";
import { copyTable } from "../../../support/copied-table.ts";
import { skipWaits } from "../../../support/skipped-waits.ts";
import { putItems, remove, tableItems } from "../../../support/table-items.ts";
import { program } from "../support/program.ts";
import { copy } from "./support/copy.ts";
import { expectConsistent } from "./support/restored-items.ts";

// What a verification waits for is another test's.
skipWaits();

const account = "acme";

/** What the functions of 1.0.0 stored for 40 leads and 6 conversations. With its smallest limits, their counts have nodes. */
const file = await readFile(join(import.meta.dirname, "release-1.0.0.jsonl"), "utf8");
const items = file
  .trim()
  .split("\n")
  .map((line): Item => JSON.parse(line, toBinary));

function toBinary(name: string, value: unknown) {
  return typeof value === "string" && ["entries", "last"].includes(name)
    ? Buffer.from(value, "base64")
    : value;
}

const isCount = ({ pk }: Item) => String(pk).startsWith("COUNT#");

/** The ids of a list, page by page. */
async function idsOf(name: "list-leads" | "list-conversations", query: string): Promise<string[]> {
  const ids: string[] = [];
  let total = 0;
  for (let page = 1; page === 1 || ids.length < total; page++) {
    const { body } = await call(name, { account, query: `${query}&limit=7&page=${page}` });
    expect(body.pagination.total).toBe(total || body.pagination.total);
    total = body.pagination.total;
    ids.push(...body.data.map(({ id }) => id));
  }
  return ids;
}

/** Checks that lists have the rows that 1.0.0 stored, newest first. */
async function expectLists() {
  for (const [name, type, filters] of [
    [
      "list-leads",
      "LEAD",
      { "": {}, "source=website": { source: "website" }, "source=expo": { source: "expo" } },
    ],
    ["list-leads", "LEAD", { "status=qualified": { status: "qualified" } }],
    ["list-conversations", "CONVERSATION", { "": {}, "channel=whatsapp": { channel: "whatsapp" } }],
  ] as const)
    for (const [query, fields] of Object.entries(filters)) {
      const stored = items.filter(({ pk }) => pk === `${type}#${account}`);
      const found = stored.filter((item) =>
        Object.entries(fields).every(([key, value]) => item[key] === value),
      );
      expect(found.length, query).toBeGreaterThan(2);
      expect(await idsOf(name, query)).toEqual(
        found
          .map(({ id }) => id)
          .toSorted()
          .reverse(),
      );
    }
}

const verify = (...args: string[]) =>
  program(["counts", "verify", "--account", account, "--table", tableName, ...args]);

test("accounts of 1.0.0 are copied, and what is left of its counts is read by no list and removed by a repair", async () => {
  await putItems(tableName, items);
  const from = await copyTable();
  // As if the copy were the old table, whose rows were brought into the present form.
  for (const item of items) if (!isCount(item)) await remove(item);
  expect(await copy(account, from)).toMatchObject({ code: 0, output: { left: 0, unreadable: [] } });
  const { leads, conversations } = await expectConsistent(account);
  expect([leads.size, conversations.length]).toEqual([40, 6]);
  await expectLists();

  const { code, stdout } = await verify("--json");
  expect(code).toBe(1);
  expect(JSON.parse(stdout)).toEqual([
    { list: "leads", damage: expect.stringContaining("The root is malformed") },
    { list: "leads", damage: "4 items are of no current counts." },
    { list: "conversations", damage: expect.stringContaining("The root is malformed") },
    { list: "conversations", damage: "2 items are of no current counts." },
  ]);
  expect((await verify("--repair")).code).toBe(0);
  expect(await verify()).toMatchObject({ code: 0, stderr: "" });
  await expectLists();
  const left = [...(await tableItems()).values()].filter(isCount);
  const old = left.filter(({ pk, sk }) => items.some((item) => item.pk === pk && item.sk === sk));
  expect(old.map(({ sk }) => sk)).toEqual(["root", "root"]);
});
