import { ConditionalCheckFailedException } from "@aws-sdk/client-dynamodb";
import { TransactWriteCommand, UpdateCommand } from "@aws-sdk/lib-dynamodb";
import { afterEach, expect, test, vi } from "vitest";
import { revokeApiKey } from "../../../../lib/ops/keys/api-key-changes.ts";
import { asChange } from "../../../../lib/ops/table/write-items.ts";
import { newApiKey, parseApiKey } from "../../../../shared/domain/api-key-format.ts";
import { updateLead } from "../../../../shared/domain/create-lead.ts";
import { apiKeyKey } from "../../../../shared/dynamodb/keys.ts";
import type { Item, Key } from "../../../../shared/dynamodb/table-client.ts";
import { newId } from "../../../../shared/ids.ts";
import { storedLead } from "../../../support/tables/stored.ts";
import { WatchedTable } from "../../../support/tables/watched-table.ts";

afterEach(() => void vi.restoreAllMocks());

const { keyId = "", sha256 = "" } = parseApiKey(newApiKey("01JZ0000000000000000000000")) ?? {};
const createdAt = "2026-01-01T00:00:00.000Z";
const key = { ...apiKeyKey(sha256, keyId), keyId, accountId: "acme", access: "full", createdAt };
const lead = storedLead("lead_1");

test.each<[what: string, item: Item & Key, change: () => Promise<unknown>]>([
  ["key", key, () => revokeApiKey(key)],
  ["lead", lead, () => updateLead("acme", lead, { status: "booked" }, [])],
])("a %s that is deleted before its change is not stored again", async (_, item, change) => {
  const table = new WatchedTable();
  const { memory } = table;
  table.before = (command) => {
    if (command instanceof UpdateCommand || command instanceof TransactWriteCommand) memory.delete(item);
  };
  memory.put(item);
  await expect(change()).rejects.toThrow(ConditionalCheckFailedException);
  expect([...memory.items()]).toEqual([]);
});

test("a change is later than the one before it, even if the machine of that one had another clock", () => {
  const changeId = newId("change", Date.now() + 60_000);
  const before = { ...lead, changeId };
  expect(String(asChange(before, { status: "booked" }).changeId) > changeId).toBe(true);
});
