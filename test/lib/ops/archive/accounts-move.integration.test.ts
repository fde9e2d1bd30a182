import { randomUUID } from "node:crypto";
import { readFile, stat } from "node:fs/promises";
import { beforeAll, expect, test } from "vitest";
import { writeLimit } from "../../../../lib/ops/accounts/account-limit.ts";
import { accountsCommand } from "../../../../lib/ops/accounts/accounts-command.ts";
import { formatColumns } from "../../../../lib/ops/common/columns.ts";
import { setConversationStatus } from "../../../../lib/ops/conversations/conversation-status.ts";
import { beginErasure, endErasure } from "../../../../lib/ops/erasure/erased-leads.ts";
import { issueApiKey } from "../../../../lib/ops/keys/api-key-changes.ts";
import { importCommand } from "../../../../lib/ops/leads/leads-import.ts";
import { Pace } from "../../../../shared/dynamodb/pace.ts";
import { type Item, tableName } from "../../../../shared/dynamodb/table-client.ts";
import { call } from "../../../support/call.ts";
import { runCommand } from "../../../support/command.ts";
import { leadFile } from "../../../support/lead-files.ts";
import { aLead, aMessage } from "../../../support/requests.ts";
import { compareItems, put, tableItems } from "../../../support/table-items.ts";
import { accounts, exported } from "./support/restore.ts";

const source = randomUUID();

/** Everything that callers see of an account. */
const lists = async (account: string) => [
  (await call("list-leads", { account, query: "limit=100" })).body,
  (await call("list-leads", { account, query: "email=ADA@example.com&status=new" })).body,
  (await call("list-conversations", { account, query: "limit=100" })).body,
  (await call("list-conversations", { account, query: "channel=whatsapp&status=closed" })).body,
];

beforeAll(async () => {
  const ada = await aLead(source, { email: "ada@example.com", tags: ["a;b", "c"], source: "fair" });
  const grace = await aLead(source, { name: 'Grace 👋 "quoted"' });
  const erased = await aLead(source);
  await beginErasure(source, erased.id, new Pace());
  await endErasure(source, erased.id, new Pace());
  const file = await leadFile("name\nImported\n");
  await runCommand(importCommand(), file, "--account", source);
  const { conversationId } = await aMessage(source, ada.id, "whatsapp", "Hello\nAda");
  await setConversationStatus(source, conversationId, "closed", Date.now() + 10_000);
  for (let i = 0; i < 5; i++) await aMessage(source, ada.id, "whatsapp", `Message ${i}`);
  await aMessage(source, grace.id, "email");
  await issueApiKey(source);
  await writeLimit({ account: source, requests: 5 });
});

test("accounts export and import move an account to another, which then exports the same bytes", async () => {
  const path = await exported(source);
  // How many messages a conversation has follows from them, whatever its item says.
  const [joined] = [...(await tableItems()).values()].filter(({ messageCount }) => messageCount === 5);
  await put({ ...joined, messageCount: 9 });
  expect(await readFile(await exported(source))).toEqual(await readFile(path));
  await put({ ...joined });
  const manifest = JSON.parse(await readFile(`${path}.manifest.json`, "utf8"));
  expect(manifest).toEqual({
    ...{ format: "leads-and-conversations-account", version: 1, account: source, table: tableName },
    ...{ createdAt: expect.any(String), sha256: expect.stringMatching(/^[0-9a-f]{64}$/) },
    lines: { limit: 1, erasedLead: 1, leadImport: 1, lead: 3, conversation: 3, message: 7 },
  });
  for (const file of [path, `${path}.manifest.json`]) expect((await stat(file)).mode & 0o777).toBe(0o600);
  const account = randomUUID();
  const args = ["import", path, "--account", account];
  const before = await tableItems();
  expect((await accounts(...args)).failure).toBe(
    `${path} has the account ${source}: add --rename to import it as ${account}.`,
  );
  expect((await accounts(...args, "--rename", "--dry-run")).output).toMatchObject({
    lines: 16,
    imported: 16,
  });
  expect(compareItems(before, await tableItems())).toEqual({ added: [], changed: [], deleted: [] });
  const report = { account, lines: 16, imported: 16, present: 0, replaced: 0, erased: 0, orphaned: 0 };
  expect(await accounts(...args, "--rename")).toEqual({ failure: undefined, output: report });

  expect(await lists(account)).toEqual(await lists(source));
  expect(await readFile(await exported(account))).toEqual(await readFile(path));
  const after = await tableItems();
  const { added, changed, deleted } = compareItems(before, after);
  expect({ changed, deleted }).toEqual({ changed: [], deleted: [] });
  // The other account's items are the same, but for its name and the mark of the import.
  for (const name of added) {
    const { imported, ...item } = after.get(name) ?? {};
    const original = before.get(name.replace(account, source));
    const { imported: _, changed, changeId, ...expected } = original ?? {};
    expect(JSON.parse(JSON.stringify(item).replaceAll(account, source))).toEqual(expected);
  }
  expect(added.filter((name) => name.startsWith("ACTIVE"))).toHaveLength(2);
  // Once more, it changes nothing.
  expect((await accounts(...args, "--rename")).output).toEqual({ ...report, imported: 0, present: 16 });
  expect(await tableItems()).toEqual(after);
});

test("accounts list counts the items of each account", async () => {
  const { output } = await accounts("list");
  expect(output.find(({ account }: Item) => account === source)).toEqual({
    ...{ account: source, leads: 3, conversations: 3, messages: 7, keys: 1, erasedLeads: 1 },
    // The record of the import, the pointers and the limit.
    others: 4,
  });
  expect(output.map(({ account }: Item) => account)).toEqual(
    output.map(({ account }: Item) => String(account)).toSorted(),
  );
  const { printed } = await runCommand(accountsCommand(), "list");
  expect(printed).toEqual([formatColumns(output)]);
});
