import { ConditionalCheckFailedException, TransactionConflictException } from "@aws-sdk/client-dynamodb";
import { DeleteCommand, PutCommand, TransactWriteCommand, UpdateCommand } from "@aws-sdk/lib-dynamodb";
import { afterEach, describe, expect, onTestFinished, test, vi } from "vitest";
import { revokeApiKey } from "../../../../lib/ops/keys/api-key-changes.ts";
import { setLeadFields } from "../../../../lib/ops/leads/leads-command.ts";
import { asChange } from "../../../../lib/ops/table/write-items.ts";
import { newApiKey, parseApiKey } from "../../../../shared/domain/api-key-format.ts";
import { leadItem } from "../../../../shared/domain/leads.ts";
import { apiKeyKey } from "../../../../shared/dynamodb/keys.ts";
import { type Item, tableName } from "../../../../shared/dynamodb/table-client.ts";
import { newId } from "../../../../shared/ids.ts";
import type { Lead } from "../../../../shared/schemas/lead-schemas.ts";
import { useMemoryTable } from "../../../support/memory-leads.ts";
import { storedLead } from "../../../support/stored.ts";

afterEach(() => void vi.restoreAllMocks());

/** A table with items, on which something happens before the first writes of a command, whose number it is called with. */
function tableWith(items: readonly Item[], meanwhile: (write: number) => unknown) {
  let writes: number | undefined;
  const memory = useMemoryTable(async (command, send) => {
    const isWrite = command instanceof UpdateCommand || command instanceof TransactWriteCommand;
    if (writes !== undefined && isWrite) await meanwhile(++writes);
    return send(command);
  });
  const put = (Item: Item) => memory.execute(new PutCommand({ TableName: tableName, Item }));
  const remove = ({ pk, sk }: Item) =>
    memory.execute(new DeleteCommand({ TableName: tableName, Key: { pk, sk } }));
  for (const item of items) put(item);
  writes = 0;
  return { put, remove, stored: () => [...memory.items()], writes: () => writes };
}

const changes: readonly [string, Item, () => Promise<unknown>][] = [
  ["a lead's status", storedLead("lead_1"), () => setLeadFields("acme", "lead_1", { status: "booked" })],
  ["a lead's score", storedLead("lead_1"), () => setLeadFields("acme", "lead_1", { score: 7 })],
];

test("nothing of a key comes back that is deleted before its end is set", async () => {
  const { keyId = "", sha256 = "" } = parseApiKey(newApiKey("01JZ0000000000000000000000")) ?? {};
  const createdAt = "2026-01-01T00:00:00.000Z";
  const key = { ...apiKeyKey(sha256, keyId), keyId, accountId: "acme", access: "full", createdAt };
  const table = tableWith([key], () => table.remove(key));
  await expect(revokeApiKey(key)).rejects.toThrow(ConditionalCheckFailedException);
  expect(table.stored()).toEqual([]);
});

describe.each(changes)("%s", (_, item, change) => {
  test("is not set on what is deleted meanwhile: nothing of it comes back", async () => {
    const table = tableWith([item], () => table.remove(item));
    expect(await change()).toBeUndefined();
    expect(table.stored()).toEqual([]);
  });

  const conflicts = [
    new TransactionConflictException({ message: "busy", $metadata: {} }),
    new ConditionalCheckFailedException({ message: "changed", $metadata: {} }),
  ];

  test("is set again while others change the item", async () => {
    const table = tableWith([item], (write) => {
      const conflict = conflicts[write - 1];
      if (conflict) throw conflict;
    });
    expect(await change()).toMatchObject({ id: item.id });
    expect(table.writes()).toBe(3);
  });

  test.each(conflicts)("is given up after ten seconds of $name", async (conflict) => {
    vi.useFakeTimers({ toFake: ["Date"], now: 0 });
    onTestFinished(() => void vi.useRealTimers());
    const table = tableWith([item], () => {
      vi.setSystemTime(Date.now() + 2400);
      throw conflict;
    });
    await expect(change()).rejects.toThrow();
    // The fifth attempt ends after twelve seconds.
    expect(table.writes()).toBe(5);
  });
});

test.each([
  undefined,
  "web",
])("a lead whose source is %s, and changes meanwhile, is listed under its new source", async (source) => {
  const from = (source: string | undefined, status: Lead["status"] = "new") =>
    leadItem("acme", {
      ...{ id: "lead_1", name: "Ada", score: 0, status, tags: [], createdAt: "2026-01-01T00:00:00.000Z" },
      ...(source !== undefined && { source }),
    });
  const table = tableWith([from(source)], (write) => write === 1 && table.put(from("fair")));
  const changed = await setLeadFields("acme", "lead_1", { status: "booked" });
  expect(changed).toMatchObject({ source: "fair", status: "booked" });
  const marks = { changed: ["status"], changeId: expect.stringMatching(/^change_/) };
  expect(table.stored()).toEqual([{ ...from("fair", "booked"), ...marks }]);
});

test("a lead that has the status and the score already is not written", async () => {
  const table = tableWith([storedLead("lead_1")], () => {});
  expect(await setLeadFields("acme", "lead_1", { status: "new", score: 0 })).toMatchObject({ score: 0 });
  expect(table.writes()).toBe(0);
});

test("a changed lead keeps the details that another release stored", async () => {
  const lead = storedLead("lead_1");
  const table = tableWith([{ ...lead, details: { ...lead.details, company: "Analytical" } }], () => {});
  expect(await setLeadFields("acme", "lead_1", { score: 7 })).toMatchObject({ score: 7 });
  expect(table.stored()).toMatchObject([{ details: { ...lead.details, score: 7, company: "Analytical" } }]);
});

test("a change is later than the one before it, which a machine with another clock has made", () => {
  const changeId = newId("change", Date.now() + 60_000);
  const before = { ...storedLead("lead_1"), changeId };
  expect(String(asChange(before, { status: "booked" }).changeId) > changeId).toBe(true);
});
