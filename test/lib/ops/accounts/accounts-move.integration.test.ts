import { createHash, randomUUID } from "node:crypto";
import { appendFile, readFile, stat, writeFile } from "node:fs/promises";
import { UpdateCommand } from "@aws-sdk/lib-dynamodb";
import { beforeAll, describe, expect, test } from "vitest";
import { accountsCommand } from "../../../../lib/ops/accounts-command.ts";
import { issueApiKey } from "../../../../lib/ops/changes/api-key-changes.ts";
import { setConversationStatus } from "../../../../lib/ops/changes/conversation-status.ts";
import { readSublists } from "../../../../lib/ops/counts/tree-items.ts";
import { beginErasure, endErasure } from "../../../../lib/ops/erasure/erased-leads.ts";
import { importCommand } from "../../../../lib/ops/import-export/leads-import.ts";
import { Pace } from "../../../../lib/ops/pace.ts";
import { toEvents } from "../../../../shared/domain/events.ts";
import { accountImportKey, leadKey } from "../../../../shared/dynamodb/keys.ts";
import { type Item, table, tableName } from "../../../../shared/dynamodb/table-client.ts";
import { countedLists } from "../../../../shared/pages/tree/counted-list.ts";
import { call } from "../../../support/call.ts";
import { runCommand, runJson } from "../../../support/command.ts";
import { filePath, leadFile, readLines } from "../../../support/lead-files.ts";
import { aLead, aMessage } from "../../../support/requests.ts";
import { streamRecord } from "../../../support/stream-record.ts";
import { compareItems, tableItems } from "../../../support/table-items.ts";

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
});

describe("accounts export and import", () => {
  test("move an account to another, which then exports the same bytes", async () => {
    const path = await exported(source);
    const manifest = JSON.parse(await readFile(`${path}.manifest.json`, "utf8"));
    expect(manifest).toEqual({
      ...{ format: "leads-and-conversations-account", version: 1, account: source, table: tableName },
      ...{ createdAt: expect.any(String), sha256: expect.stringMatching(/^[0-9a-f]{64}$/) },
      lines: { erasedLead: 1, leadImport: 1, lead: 3, conversation: 3, message: 7 },
    });
    for (const file of [path, `${path}.manifest.json`]) expect((await stat(file)).mode & 0o777).toBe(0o600);
    const account = randomUUID();
    const args = ["import", path, "--account", account];
    const before = await tableItems();
    expect((await accounts(...args)).failure).toBe(
      `${path} has the account ${source}: add --rename to import it as ${account}.`,
    );
    expect((await accounts(...args, "--rename", "--dry-run")).output).toMatchObject({
      lines: 15,
      imported: 15,
    });
    expect(compareItems(before, await tableItems())).toEqual({ added: [], changed: [], deleted: [] });
    const report = { account, lines: 15, imported: 15, present: 0, erased: 0 };
    expect(await accounts(...args, "--rename")).toEqual({ failure: undefined, output: report });

    expect(await lists(account)).toEqual(await lists(source));
    expect(await readFile(await exported(account))).toEqual(await readFile(path));
    const after = await tableItems();
    const { added, changed, deleted } = compareItems(before, after);
    expect({ changed, deleted }).toEqual({ changed: [], deleted: [] });
    // The other account's items are the same, but for its name and the mark of the import.
    const key = accountImportKey(account, manifest.sha256);
    const stored = added.filter((name) => name !== `${key.pk} ${key.sk}`);
    for (const name of stored) {
      const { imported, ...item } = after.get(name) ?? {};
      const original = before.get(name.replace(account, source));
      const { imported: _, ...expected } = original ?? {};
      expect(JSON.parse(JSON.stringify(item).replaceAll(account, source))).toEqual(expected);
    }
    expect(stored.filter((name) => name.startsWith("ACTIVE"))).toHaveLength(2);
    // No item causes an event.
    const records = stored.map((name) => ({
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

  test("an import that ended early continues; one that has ended changes nothing", async () => {
    const account = randomUUID();
    const path = await exported(source);
    const args = ["import", path, "--account", account, "--rename"];
    await accounts(...args);
    const before = await tableItems();
    const lead = (await readLines(path)).find(({ type }) => type === "lead");
    // As if it had ended before its last step, and an operator had erased a lead since.
    await table.send(
      new UpdateCommand({
        TableName: tableName,
        Key: accountImportKey(account, JSON.parse(await readFile(`${path}.manifest.json`, "utf8")).sha256),
        UpdateExpression: "REMOVE endedAt",
      }),
    );
    await beginErasure(account, lead.id, new Pace());
    const { output } = await accounts(...args);
    expect(output).toMatchObject({ lines: 15, imported: 0, present: 6, erased: 9 });
    const key = leadKey(account, lead.id);
    expect(compareItems(before, await tableItems()).deleted).toEqual([`${key.pk} ${key.sk}`]);
    await issueApiKey(account);
    expect((await accounts(...args)).output).toEqual({
      account,
      lines: 15,
      imported: 0,
      present: 15,
      erased: 0,
    });
  });

  test("long lists are counted when they are imported", async () => {
    const account = randomUUID();
    const to = randomUUID();
    const file = await leadFile(`name,source\n${"Ada,fair\n".repeat(200)}`);
    await runCommand(importCommand(noWait), file, "--account", account, "--rate", "100000");
    await accounts("import", await exported(account), "--account", to, "--rename", "--rate", "100000");
    const [sublist] = await readSublists({ account: to, list: countedLists.lead }, new Pace());
    expect(sublist?.sublist.partition).toBe(`LEAD#${to}#fair`);
    const { pagination } = (await call("list-leads", { account: to, query: "source=fair" })).body;
    expect(pagination.total).toBe(200);
  });

  describe("refuse with one sentence", () => {
    const refused = async (path: string, account: string, ...args: string[]) => {
      const before = await tableItems();
      const { failure } = await accounts("import", path, "--account", account, ...args);
      expect(compareItems(before, await tableItems())).toEqual({ added: [], changed: [], deleted: [] });
      return failure;
    };

    test("a damaged file, a missing manifest, and that of another format or version", async () => {
      const path = await exported(source);
      const manifest = `${path}.manifest.json`;
      const text = await readFile(path, "utf8");
      const damaged = `${path} differs from its manifest: it is damaged, or of another export.`;
      await writeFile(path, text.replace("Message 3", "Message 4"));
      expect(await refused(path, source)).toBe(damaged);
      await writeFile(path, text.slice(0, -1));
      expect(await refused(path, source)).toBe(damaged);
      await writeFile(path, text);
      const written = await readFile(manifest, "utf8");
      await writeFile(manifest, written.replace('"version": 1', '"version": 2'));
      expect(await refused(path, source)).toBe(
        `${manifest} has the version 2, but this program reads version 1.`,
      );
      for (const other of ["{}", "[]", "{"]) {
        await writeFile(manifest, other);
        expect(await refused(path, source)).toBe(`${manifest} is not the manifest of an account.`);
      }
      const other = await leadFile("{}\n", ".jsonl");
      expect(await refused(other, source)).toBe(
        `${other}.manifest.json cannot be read (ENOENT): an export writes it beside its file.`,
      );
    });

    test("a line that is no item", async () => {
      const path = await exported(source);
      await appendFile(path, '{"type":"lead","id":"lead_1"}\n');
      const sha256 = createHash("sha256")
        .update(await readFile(path))
        .digest("hex");
      const manifest = JSON.parse(await readFile(`${path}.manifest.json`, "utf8"));
      await writeFile(`${path}.manifest.json`, JSON.stringify({ ...manifest, sha256 }));
      expect(await refused(path, source)).toBe(`Line 16 of ${path} is not an item of an account.`);
    });

    test("an account that is not empty, or whose keys work", async () => {
      const path = await exported(source);
      expect(await refused(path, source)).toBe(
        `The account ${source} is not empty: import the file into another one.`,
      );
      const account = randomUUID();
      await issueApiKey(account);
      expect(await refused(path, account, "--rename")).toBe(
        `The account ${account} has API keys that work: revoke them, and issue others when the import has ended.`,
      );
    });

    test("an export of nothing, and to a file of another kind", async () => {
      const account = randomUUID();
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
    // The record of the import, and the pointers.
    others: 3,
  });
  expect(output.map(({ account }: Item) => account)).toEqual(
    output.map(({ account }: Item) => String(account)).toSorted(),
  );
  const { printed } = await runCommand(accountsCommand(noWait), "list");
  expect(printed).toEqual([output]);
});
