import { randomUUID } from "node:crypto";
import { readFile, stat, writeFile } from "node:fs/promises";
import { DynamoDBDocumentClient, PutCommand, QueryCommand } from "@aws-sdk/lib-dynamodb";
import { beforeAll, describe, expect, test, vi } from "vitest";
import { readLimit, writeLimit } from "../../../../lib/ops/accounts/account-limit.ts";
import { accountsCommand } from "../../../../lib/ops/accounts/accounts-command.ts";
import { storeLine } from "../../../../lib/ops/archive/store-line.ts";
import { formatColumns } from "../../../../lib/ops/common/columns.ts";
import { setConversationStatus } from "../../../../lib/ops/conversations/conversation-status.ts";
import { beginErasure, endErasure } from "../../../../lib/ops/erasure/erased-leads.ts";
import { issueApiKey } from "../../../../lib/ops/keys/api-key-changes.ts";
import { importCommand } from "../../../../lib/ops/leads/leads-import.ts";
import { conversationItem } from "../../../../shared/domain/conversations.ts";
import { toEvents } from "../../../../shared/domain/events.ts";
import { messageKey } from "../../../../shared/dynamodb/keys.ts";
import { Pace } from "../../../../shared/dynamodb/pace.ts";
import { type Item, table, tableName } from "../../../../shared/dynamodb/table-client.ts";
import { createdAt, newId } from "../../../../shared/ids.ts";
import { call } from "../../../support/call.ts";
import { runCommand, runJson } from "../../../support/command.ts";
import { filePath, leadFile, readLines } from "../../../support/lead-files.ts";
import { aLead, aMessage } from "../../../support/requests.ts";
import { streamRecord } from "../../../support/stream-record.ts";
import { compareItems, tableItems } from "../../../support/table-items.ts";
import { storeLead } from "../events/support.ts";

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

/** Stores a conversation that was closed an hour ago, with a message. @returns its id */
async function storeEndedConversation(account: string, leadId: string): Promise<string> {
  const time = Date.now() - 3_600_000;
  const [id, messageId] = [newId("conv", time), newId("msg", time)];
  const fields = { leadId, channel: "whatsapp" };
  const lastMessageAt = createdAt(messageId);
  const message = {
    id: messageId,
    conversationId: id,
    ...fields,
    message: "Hello",
    createdAt: lastMessageAt,
  };
  const conversation = { id, ...fields, status: "closed", messageCount: 1, lastMessageAt };
  for (const Item of [
    conversationItem(account, conversation),
    { ...messageKey(account, id, messageId), ...message },
  ])
    await table.send(new PutCommand({ TableName: tableName, Item }));
  return id;
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
      const { imported: _, ...expected } = original ?? {};
      expect(JSON.parse(JSON.stringify(item).replaceAll(account, source))).toEqual(expected);
    }
    expect(added.filter((name) => name.startsWith("ACTIVE"))).toHaveLength(2);
    // No item causes an event.
    const records = added.map((name) => ({
      ...streamRecord(undefined, after.get(name)),
      eventName: "INSERT" as const,
    }));
    expect(toEvents(records)).toEqual([]);
  });

  test("a message joins the imported active conversation", async () => {
    const account = randomUUID();
    await accounts("import", await exported(source), "--account", account, "--rename");
    const { data } = (await call("list-conversations", { account, query: "channel=email" })).body;
    const sent = await aMessage(account, data[0]?.leadId ?? "", "email");
    expect(sent.conversationId).toBe(data[0]?.id);
  });

  test("a repeated import changes nothing, but deletes what is left of a lead that was erased since", async () => {
    const account = randomUUID();
    const path = await exported(source);
    const args = ["import", path, "--account", account, "--rename"];
    await accounts(...args);
    await issueApiKey(account);
    const before = await tableItems();
    const again = { account, lines: 16, imported: 0, present: 16, replaced: 0, erased: 0, orphaned: 0 };
    expect((await accounts(...args)).output).toEqual(again);
    expect(compareItems(before, await tableItems())).toEqual({ added: [], changed: [], deleted: [] });
    const lead = (await readLines(path)).find(({ type }) => type === "lead");
    await beginErasure(account, lead.id, new Pace());
    const { output } = await accounts(...args);
    expect(output).toMatchObject({ lines: 16, imported: 0, present: 7, erased: 9 });
    // The lead with two conversations, six messages and a pointer.
    const { deleted } = compareItems(before, await tableItems());
    expect(deleted).toHaveLength(10);
    expect(deleted.filter((key) => JSON.stringify([key, before.get(key)]).includes(lead.id))).toEqual(
      deleted,
    );
  });

  test("the limit of an account moves with it, unless it has another one already", async () => {
    const path = await exported(source);
    const [account, other] = [randomUUID(), randomUUID()];
    await writeLimit({ account: other, requests: 7 });
    for (const to of [account, other]) await accounts("import", path, "--account", to, "--rename");
    expect(await readLimit(account)).toEqual({ account, requests: 5 });
    expect(await readLimit(other)).toEqual({ account: other, requests: 7 });
  });

  test("what an import stored of a lead that was erased meanwhile is deleted by the next run, when the indexes list it", async () => {
    const [from, account] = [randomUUID(), randomUUID()];
    const leadId = await storeLead(from, Date.now() - 3_600_000);
    const conversationId = await storeEndedConversation(from, leadId);
    await aLead(from);
    const path = await exported(from);
    // The first run knows the erased leads before the lead is erased, stores the rest of the file, and is killed.
    const pace = new Pace();
    const run = {
      ...{ account, runId: "run 1", replace: false, dryRun: false, pace },
      ...{ erased: new Set<string>(), unmet: new Set<string>(), missing: new Set<string>() },
    };
    await beginErasure(account, leadId, pace);
    for (const line of await readLines(path)) await storeLine(run, line);
    const send = DynamoDBDocumentClient.prototype.send;
    let isLate = true;
    const spy = vi.spyOn(DynamoDBDocumentClient.prototype, "send").mockImplementation(function (
      this: DynamoDBDocumentClient,
      ...args: unknown[]
    ) {
      const [command] = args;
      const hidden = isLate && command instanceof QueryCommand && command.input.IndexName === "by-parent";
      return hidden ? Promise.resolve({ Items: [] }) : Reflect.apply(send, this, args);
    } as never);
    const waits: number[] = [];
    const wait = async (milliseconds: number) => {
      waits.push(milliseconds);
      isLate = false;
    };
    const args = ["import", path, "--account", account, "--rename"];
    const { output } = await runJson(accountsCommand(wait), ...args);
    spy.mockRestore();
    expect(output).toMatchObject({ lines: 4, imported: 0, present: 1, erased: 3 });
    expect(waits).toEqual([32_000]);
    const left = [...(await tableItems())].filter(
      (entry) => JSON.stringify(entry).includes(account) && /lead_|conv_/.test(JSON.stringify(entry)),
    );
    const naming = left.filter((entry) => JSON.stringify(entry).includes(leadId));
    expect(naming.map(([key]) => key)).toEqual([`ERASED#${account} ${leadId}`]);
    expect(left.some((entry) => JSON.stringify(entry).includes(conversationId))).toBe(false);
    expect((await call("list-leads", { account })).body.pagination.total).toBe(1);
  });

  test("an import that fails deletes what it stored of a lead that was erased meanwhile", async () => {
    const [from, account] = [randomUUID(), randomUUID()];
    const { id } = await aLead(from);
    await aMessage(from, id);
    const path = await exported(from);
    const send = DynamoDBDocumentClient.prototype.send;
    const spy = vi.spyOn(DynamoDBDocumentClient.prototype, "send").mockImplementation(function (
      this: DynamoDBDocumentClient,
      ...args: unknown[]
    ) {
      const [command] = args;
      if (command instanceof PutCommand && String(command.input.Item?.pk).startsWith("MESSAGE"))
        return beginErasure(account, id, new Pace()).then(() => Promise.reject(new Error("on purpose")));
      return Reflect.apply(send, this, args);
    } as never);
    const { failure } = await accounts("import", path, "--account", account, "--rename");
    spy.mockRestore();
    expect(failure).toMatch(/^Stopped after \d rows: on purpose\. Run the same command again to continue\.$/);
    const left = [...(await tableItems()).keys()].filter((key) => key.includes(account));
    expect(left.map((key) => key.split("#")[0])).toEqual(["ERASED"]);
  });

  describe("refuse with one sentence", () => {
    const refused = async (path: string, account: string, ...args: string[]) => {
      const before = await tableItems();
      const { failure } = await accounts("import", path, "--account", account, ...args);
      expect(compareItems(before, await tableItems())).toEqual({ added: [], changed: [], deleted: [] });
      return failure;
    };

    test("a damaged file and a missing manifest", async () => {
      const path = await exported(source);
      const text = await readFile(path, "utf8");
      const damaged = `${path} differs from its manifest: it is damaged, or of another export.`;
      await writeFile(path, text.replace("Message 3", "Message 4"));
      expect(await refused(path, source)).toBe(damaged);
      await writeFile(path, text.slice(0, -1));
      expect(await refused(path, source)).toBe(damaged);
      await writeFile(path, text);
      const other = await leadFile("{}\n", ".jsonl");
      expect(await refused(other, source)).toBe(
        `${other}.manifest.json cannot be read (ENOENT): an export writes it beside its file.`,
      );
    });

    test("an export of nothing, and to a file of another kind", async () => {
      const account = randomUUID();
      await issueApiKey(account);
      const args = ["export", "--account", account, "--output"];
      const path = filePath(".jsonl");
      expect((await accounts(...args, path)).failure).toBe(`The account ${account} has nothing to export.`);
      await expect(stat(path)).rejects.toThrow("ENOENT");
      expect((await accounts(...args, "a.csv")).failure).toContain("The file must end in .jsonl.");
    });
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
