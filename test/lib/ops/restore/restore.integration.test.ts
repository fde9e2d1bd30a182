import { randomUUID } from "node:crypto";
import { DeleteCommand, PutCommand, UpdateCommand } from "@aws-sdk/lib-dynamodb";
import { ulid } from "ulid";
import { describe, expect, test, vi } from "vitest";
import { setConversationStatus } from "../../../../lib/ops/changes/conversation-status.ts";
import { setLeadStatus } from "../../../../lib/ops/changes/lead-changes.ts";
import { verifyCommand } from "../../../../lib/ops/counts-verify-command.ts";
import { restoreCommand } from "../../../../lib/ops/restore-command.ts";
import { conversationItem } from "../../../../shared/domain/conversations.ts";
import { leadItem } from "../../../../shared/domain/leads.ts";
import {
  activeConversationKey,
  conversationKey,
  leadKey,
  messageKey,
} from "../../../../shared/dynamodb/keys.ts";
import { type Item, type Key, table, tableName } from "../../../../shared/dynamodb/table-client.ts";
import { createdAt } from "../../../../shared/ids.ts";
import { call } from "../../../support/call.ts";
import { runCommand, runJson } from "../../../support/command.ts";
import { copyTable } from "../../../support/copied-table.ts";
import { aLead, aMessage } from "../../../support/requests.ts";
import { tableItems } from "../../../support/table-items.ts";

const noWait = async () => {};
const hour = 3_600_000;
const at = new Date(Date.now() - hour / 2).toISOString();

/** Does something at a time in the past, in milliseconds before now. */
async function ago<T>(time: number, work: () => Promise<T>): Promise<T> {
  vi.useFakeTimers({ toFake: ["Date"], now: Date.now() - time });
  try {
    return await work();
  } finally {
    vi.useRealTimers();
  }
}

const put = (Item: Item) => table.send(new PutCommand({ TableName: tableName, Item }));
const remove = (Key: Key) => table.send(new DeleteCommand({ TableName: tableName, Key: { pk: Key.pk, sk: Key.sk } }));

const restore = (account: string, from: string, ...args: string[]) =>
  runJson(restoreCommand(noWait), "--account", account, "--from-table", from, "--at", at, "--yes", ...args);

/** The items that a restore is about, of one account. */
const restored = (items: ReadonlyMap<string, Item>, account: string) =>
  Object.fromEntries(
    [...items].filter(([key]) =>
      ["LEAD", "CONVERSATION", "MESSAGE", "ACTIVE"].some(
        (type) => key.startsWith(`${type}#${account} `) || key.startsWith(`${type}#${account}#`),
      ),
    ),
  );

const closed = { status: "closed" };

describe("restore", () => {
  test("works", async () => {
    const account = randomUUID();
    const other = randomUUID();
    const [ada, grace] = await ago(hour, async () => {
      const leads = [await aLead(account, { email: "ada@example.com", source: "fair" }), await aLead(account)] as const;
      for (const { id } of leads) for (const channel of ["whatsapp", "email"]) await aMessage(account, id, channel);
      await aMessage(account, leads[0].id);
      await aMessage(other, (await aLead(other)).id);
      return leads;
    });
    const before = await tableItems();
    const from = await copyTable();
    await remove(leadKey(account, ada.id));
    await setLeadStatus(account, grace.id, "booked", Date.now() + 10_000);
    const untouched = restored(await tableItems(), other);
    const outcome = await restore(account, from);
    expect(outcome).toEqual({});
    expect(restored(await tableItems(), account)).toEqual(restored(before, account));
    expect(restored(await tableItems(), other)).toEqual(untouched);
    expect(await runJson(verifyCommand(noWait), "--account", account)).toEqual({ output: [] });
  });
});
