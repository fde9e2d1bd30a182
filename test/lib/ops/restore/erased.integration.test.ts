import { randomUUID } from "node:crypto";
import { DynamoDBDocumentClient, QueryCommand, TransactWriteCommand } from "@aws-sdk/lib-dynamodb";
import { beforeEach, expect, test, vi } from "vitest";
import { eraseAccount } from "../../../../lib/ops/accounts/erase-account.ts";
import { issueApiKey } from "../../../../lib/ops/changes/api-key-changes.ts";
import { beginErasure } from "../../../../lib/ops/erasure/erased-leads.ts";
import { eraseCommand } from "../../../../lib/ops/erasure/leads-erase.ts";
import { Pace } from "../../../../lib/ops/pace.ts";
import { restoreCommand } from "../../../../lib/ops/restore-command.ts";
import { conversationItem } from "../../../../shared/domain/conversations.ts";
import {
  accountPartition,
  activeConversationKey,
  leadKey,
  messageKey,
} from "../../../../shared/dynamodb/keys.ts";
import { type Key, selectTable, tableName } from "../../../../shared/dynamodb/table-client.ts";
import { newId } from "../../../../shared/ids.ts";
import { runCommand, runJson } from "../../../support/command.ts";
import { tableItems } from "../../../support/table-items.ts";
import { put, remove, restoredItems } from "./support/restored-items.ts";
import { aFilledAccount, anAccount, at } from "./support/spoiled-account.ts";
import { once, whileWriting } from "./support/while-writing.ts";

// The client of a command compares the clocks, also while a test is in the past.
beforeEach(() => selectTable(tableName, {}));

const noWait = async () => {};
const argsOf = (from: string) => ["--from-table", from, "--at", at, "--yes"];
const erase = (account: string) =>
  eraseAccount(account, { pace: new Pace(), wait: noWait, keyCache: 0, onRows: () => {} });

/** The keys of what names a lead, among what a restore is about. */
const namesOf = async (account: string, leadId: string) =>
  Object.entries(restoredItems(await tableItems(), account))
    .filter((entry) => JSON.stringify(entry).includes(leadId))
    .map(([key]) => key);

/** Whether a command writes the item of a lead. */
const storesLead = (command: unknown, leadId: string) =>
  JSON.stringify((command as TransactWriteCommand).input).includes(`"id":"${leadId}"`);

test("--all does not bring back an erased account that has a new key", async () => {
  const { account, from } = await anAccount();
  await erase(account);
  await issueApiKey(account);
  const { output } = await runJson(restoreCommand(noWait), "--all", ...argsOf(from));
  expect(output.gone).toContain(account);
  expect(restoredItems(await tableItems(), account)).toEqual({});
});

test("--all does not bring back an account that is erased after the accounts were listed", async () => {
  // Accounts are restored in the order of their ids.
  await aFilledAccount(`0${randomUUID()}`);
  const { account, from } = await anAccount(`z${randomUUID()}`);
  const isFirstRead = (command: unknown) =>
    command instanceof QueryCommand && command.input.TableName === from;
  const { output } = await whileWriting(
    isFirstRead,
    once(() => erase(account)),
    () => runJson(restoreCommand(noWait), "--all", ...argsOf(from)),
  );
  expect(output.gone).toContain(account);
  expect(restoredItems(await tableItems(), account)).toEqual({});
});

test("--all restores an account whose leads were erased one by one, without them", async () => {
  const { account, ada, grace, from } = await anAccount();
  for (const { id } of [ada, grace]) await beginErasure(account, id, new Pace());
  const { output } = await runJson(restoreCommand(noWait), "--all", ...argsOf(from));
  expect(output.gone).not.toContain(account);
  for (const { id } of [ada, grace])
    expect((await namesOf(account, id)).filter((key) => key.startsWith("LEAD"))).toEqual([]);
});

test("a lead that is erased before it is created is not created", async () => {
  const { account, ada, from } = await anAccount();
  await remove(leadKey(account, ada.id));
  const stored: boolean[] = [];
  const { failure } = await whileWriting(
    (command) => command instanceof TransactWriteCommand && storesLead(command, ada.id),
    once(() => beginErasure(account, ada.id, new Pace())),
    () =>
      runJson(
        restoreCommand(async (time) => {
          // The sweep waits.
          if (time >= 30_000) stored.push((await tableItems()).has(`LEAD#${account} ${ada.id}`));
        }),
        ...["--account", account, ...argsOf(from)],
      ),
  );
  expect(failure).toBeUndefined();
  expect(stored[0]).toBe(false);
  expect(await namesOf(account, ada.id)).toEqual([]);
});

test("a lead that is erased while it is restored leaves nothing, even if an index or a request is late", async () => {
  const { account, ada, from, before } = await anAccount();
  for (const [key, item] of Object.entries(before))
    if (`${key} ${JSON.stringify(item)}`.includes(ada.id)) await remove(item as unknown as Key);
  let erasedReads = 0;
  let waited = false;
  const { prototype } = DynamoDBDocumentClient;
  const { send } = prototype;
  const spy = vi.spyOn(prototype, "send").mockImplementation(async function (
    this: unknown,
    ...args: unknown[]
  ) {
    const { input } = args[0] as QueryCommand;
    const isErasedRead = input.ExpressionAttributeValues?.[":pk"] === accountPartition("erasedLead", account);
    if (isErasedRead && ++erasedReads === 2) {
      await beginErasure(account, ada.id, new Pace());
      // Without pointers, only the index knows the conversations.
      for (const channel of ["whatsapp", "email"])
        await remove(activeConversationKey(account, ada.id, channel));
    }
    const output = (await Reflect.apply(send, this, args as never)) as object;
    return input.IndexName === "by-parent" && !waited ? { ...output, Items: [] } : output;
  } as never);
  const wait = async (time: number) => {
    if (time < 32_000 || waited) return;
    waited = true;
    // A request that had found the lead ends only now.
    const id = newId("conv", Date.now());
    const fields = { leadId: ada.id, channel: "sms", status: "active", messageCount: 1 };
    await put(conversationItem(account, { ...fields, id, lastMessageAt: new Date().toISOString() }));
    await put({ ...messageKey(account, id, newId("msg", Date.now())), leadId: ada.id });
  };
  const { failure } = await runJson(restoreCommand(wait), "--account", account, ...argsOf(from));
  spy.mockRestore();
  expect({ failure, waited }).toEqual({ failure: undefined, waited: true });
  expect(await namesOf(account, ada.id)).toEqual([]);
});

test("a plan has what an earlier run restored of leads that were erased meanwhile", async () => {
  const { account, ada, from, before } = await anAccount();
  await runJson(eraseCommand(noWait), "--account", account, "--lead", ada.id);
  for (const [key, item] of Object.entries(before))
    if (`${key} ${JSON.stringify(item)}`.includes(ada.id)) await put(item);
  const args = ["--account", account, "--from-table", from, "--at", at, "--dry-run"];
  const { printed } = await runCommand(restoreCommand(noWait), ...args);
  expect(printed.join()).toContain(`${account}: delete 1 leads, 2 conversations`);
});
