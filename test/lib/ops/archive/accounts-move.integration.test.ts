import { randomUUID } from "node:crypto";
import { readFile, stat, writeFile } from "node:fs/promises";
import { beforeAll, describe, expect, test } from "vitest";
import { readLimit, writeLimit } from "../../../../lib/ops/accounts/account-limit.ts";
import { accountsCommand } from "../../../../lib/ops/accounts/accounts-command.ts";
import { formatColumns } from "../../../../lib/ops/common/columns.ts";
import { setConversationStatus } from "../../../../lib/ops/conversations/conversation-status.ts";
import { beginErasure, endErasure } from "../../../../lib/ops/erasure/erased-leads.ts";
import { issueApiKey } from "../../../../lib/ops/keys/api-key-changes.ts";
import { importCommand } from "../../../../lib/ops/leads/leads-import.ts";
import { toEvents } from "../../../../shared/domain/events.ts";
import { Pace } from "../../../../shared/dynamodb/pace.ts";
import { type Item, tableName } from "../../../../shared/dynamodb/table-client.ts";
import { call } from "../../../support/call.ts";
import { runCommand, runJson } from "../../../support/command.ts";
import { filePath, leadFile } from "../../../support/lead-files.ts";
import { aLead, aMessage } from "../../../support/requests.ts";
import { streamRecord } from "../../../support/stream-record.ts";
import { compareItems, tableItems } from "../../../support/table-items.ts";
import { put } from "./support/restored-items.ts";

const noWait = async () => {};
const accounts = (...args: string[]) => runJson(accountsCommand(noWait), ...args);
const source = randomUUID();

/** Exports an account. @returns the path of the file */
async function exported(account: string): Promise<string> {
  const path = filePath(".jsonl");
  const { failure } = await accounts("export", "--account", account, "--output", path);
  expect(failure).toBeUndefined();
  return path;
}

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
  await runCommand(importCommand(noWait), file, "--account", source);
  const { conversationId } = await aMessage(source, ada.id, "whatsapp", "Hello\nAda");
  await setConversationStatus(source, conversationId, "closed", Date.now() + 10_000);
  for (let i = 0; i < 5; i++) await aMessage(source, ada.id, "whatsapp", `Message ${i}`);
  await aMessage(source, grace.id, "email");
  await issueApiKey(source);
  await writeLimit({ account: source, requests: 5 });
});

describe("accounts export and import", () => {
  test("move an account to another, which then exports the same bytes", async () => {
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
    // No message is sent again.
    const records = added.map((name) => ({
      ...streamRecord(undefined, after.get(name)),
      eventName: "INSERT" as const,
    }));
    const event = { type: "lead.created", account, imported: true };
    expect(toEvents(records)).toMatchObject([event, event, event]);
  });

  test("a message joins the imported active conversation", async () => {
    const account = randomUUID();
    await accounts("import", await exported(source), "--account", account, "--rename");
    const { data } = (await call("list-conversations", { account, query: "channel=email" })).body;
    const sent = await aMessage(account, data[0]?.leadId ?? "", "email");
    expect(sent.conversationId).toBe(data[0]?.id);
  });

  test("a repeated import changes nothing", async () => {
    const account = randomUUID();
    const path = await exported(source);
    const args = ["import", path, "--account", account, "--rename"];
    await accounts(...args);
    await issueApiKey(account);
    const before = await tableItems();
    const again = { account, lines: 16, imported: 0, present: 16, replaced: 0, erased: 0, orphaned: 0 };
    expect((await accounts(...args)).output).toEqual(again);
    expect(compareItems(before, await tableItems())).toEqual({ added: [], changed: [], deleted: [] });
  });

  test("the limit of an account moves with it, unless it has another one already", async () => {
    const path = await exported(source);
    const [account, other] = [randomUUID(), randomUUID()];
    await writeLimit({ account: other, requests: 7 });
    for (const to of [account, other]) await accounts("import", path, "--account", to, "--rename");
    expect(await readLimit(account)).toEqual({ account, requests: 5 });
    expect(await readLimit(other)).toEqual({ account: other, requests: 7 });
  });

  test("refuse a damaged file and a missing manifest with one sentence", async () => {
    const refused = async (path: string) => {
      const before = await tableItems();
      const { failure } = await accounts("import", path, "--account", source);
      expect(compareItems(before, await tableItems())).toEqual({ added: [], changed: [], deleted: [] });
      return failure;
    };
    const path = await exported(source);
    const text = await readFile(path, "utf8");
    const damaged = `${path} differs from its manifest: it is damaged, or of another export.`;
    for (const other of [text.replace("Message 3", "Message 4"), text.slice(0, -1)]) {
      await writeFile(path, other);
      expect(await refused(path)).toBe(damaged);
    }
    const other = await leadFile("{}\n", ".jsonl");
    expect(await refused(other)).toBe(
      `${other}.manifest.json cannot be read (ENOENT): an export writes it beside its file.`,
    );
  });
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
  const { printed } = await runCommand(accountsCommand(noWait), "list");
  expect(printed).toEqual([formatColumns(output)]);
});
