import { createHash, randomUUID } from "node:crypto";
import { readFile, writeFile } from "node:fs/promises";
import { NumberValue, UpdateCommand } from "@aws-sdk/lib-dynamodb";
import { beforeEach, describe, expect, test, vi } from "vitest";
import { eraseCommand } from "../../../../lib/ops/erasure/leads-erase.ts";
import {
  activeConversationKey,
  conversationKey,
  leadKey,
  messageKey,
} from "../../../../shared/dynamodb/keys.ts";
import { type Item, selectTable, table, tableName } from "../../../../shared/dynamodb/table-client.ts";
import { runJson } from "../../../support/command.ts";
import { filePath } from "../../../support/lead-files.ts";
import { tableItems } from "../../../support/table-items.ts";
import { accounts, exported, replace } from "./support/restore.ts";
import { expectConsistent, put, remove, restoredItems } from "./support/restored-items.ts";
import { aFilledAccount, close } from "./support/spoiled-account.ts";
import { interrupted } from "./support/while-writing.ts";

beforeEach(() => selectTable(tableName, { maxAttempts: 1 }));

/** What the table has of a lead, but for the record of its erasure. */
const left = async (account: string, leadId: string) =>
  [...(await tableItems())]
    .filter(([key, item]) => key.includes(account) && JSON.stringify([key, item]).includes(leadId))
    .map(([key]) => key)
    .filter((key) => !key.startsWith("ERASED"));

/** Writes an archive with some lines of another one. @returns its path */
async function withLines(path: string, condition: (line: Item) => boolean): Promise<string> {
  const lines = (await readFile(path, "utf8"))
    .split("\n")
    .filter((text) => text && condition(JSON.parse(text)));
  const text = lines.map((line) => `${line}\n`).join("");
  const counts = { limit: 0, erasedLead: 0, leadImport: 0, lead: 0, conversation: 0, message: 0 };
  for (const line of lines) counts[JSON.parse(line).type as keyof typeof counts] += 1;
  const manifest = JSON.parse(await readFile(`${path}.manifest.json`, "utf8"));
  const sha256 = createHash("sha256").update(text).digest("hex");
  const part = filePath(".jsonl");
  await writeFile(part, text);
  await writeFile(`${part}.manifest.json`, JSON.stringify({ ...manifest, sha256, lines: counts }));
  return part;
}

describe("an import", () => {
  test("leaves nothing of a lead that is erased completely between a conversation and its messages", async () => {
    const data = await aFilledAccount();
    const { account, ada } = data;
    await close(account, ada.whatsapp);
    const path = await exported(account);
    const message = (command: { readonly input: object }) =>
      JSON.stringify(command.input).includes("Item") &&
      JSON.stringify(command.input).includes(`MESSAGE#${account}#${ada.whatsapp}`);
    for (const item of Object.values(restoredItems(await tableItems(), account))) await remove(item as never);
    await put({ ...leadKey(account, ada.id), id: ada.id });
    const { failure } = await interrupted(
      message,
      () =>
        runJson(
          eraseCommand(async () => {}),
          "--account",
          account,
          "--lead",
          ada.id,
          "--yes",
        ),
      () => replace(account, path),
    );
    expect(failure).toBeUndefined();
    expect(await left(account, ada.id)).toEqual([]);
  });

  test.each([
    {},
    { conversationId: 5 },
    { conversationId: "x".repeat(2000) },
  ])("replaces a pointer with %j", async (fields) => {
    const { account, ada } = await aFilledAccount();
    const path = await exported(account);
    const key = activeConversationKey(account, ada.id, "whatsapp");
    await put({ ...key, ...fields });
    expect((await replace(account, path)).failure).toBeUndefined();
    await expectConsistent(account);
  });

  test("stores a conversation as active, though its pointer names that of another lead", async () => {
    const { account, ada, grace } = await aFilledAccount();
    const path = await exported(account);
    const before = restoredItems(await tableItems(), account);
    await remove(conversationKey(account, ada.whatsapp));
    await put({ ...activeConversationKey(account, ada.id, "whatsapp"), conversationId: grace.whatsapp });
    expect((await accounts("import", path, "--account", account)).failure).toBeUndefined();
    const { [`CONVERSATION#${account} ${ada.whatsapp}`]: stored, ...others } = restoredItems(
      await tableItems(),
      account,
    );
    const { [`CONVERSATION#${account} ${ada.whatsapp}`]: removed, ...unchanged } = before;
    expect(stored).toEqual({ ...removed, imported: expect.any(String) });
    expect(others).toEqual(unchanged);
  });

  test("leaves out the conversations of leads that do not exist", async () => {
    const { account } = await aFilledAccount();
    const part = await withLines(await exported(account), ({ type }) => type !== "lead");
    const to = randomUUID();
    const { output } = await accounts("import", part, "--account", to, "--rename");
    expect(output).toMatchObject({ imported: 0, orphaned: 10 });
    expect(restoredItems(await tableItems(), to)).toEqual({});
  });
});

describe("a number that JavaScript cannot hold", () => {
  const spoil = (key: { pk: string; sk: string }, name: string) =>
    table.send(
      new UpdateCommand({
        TableName: tableName,
        Key: key,
        UpdateExpression: "SET #n = :n",
        ExpressionAttributeNames: { "#n": name },
        ExpressionAttributeValues: { ":n": NumberValue.from("12345678901234567.5") },
      }),
    );

  test("is named by an export, and hinders no erasure", async () => {
    const { account, ada } = await aFilledAccount();
    const path = await exported(account);
    await spoil(leadKey(account, ada.id), "score");
    const [message] = (await readFile(path, "utf8"))
      .split("\n")
      .filter((line) => line.includes('"message"') && line.includes(ada.id))
      .map((line) => JSON.parse(line));
    await spoil(messageKey(account, message.conversationId, message.id), "message");
    const printed = vi.spyOn(console, "error").mockImplementation(() => {});
    await exported(account);
    expect(process.exitCode).toBe(3);
    process.exitCode = undefined;
    expect(printed.mock.calls.flat().join("\n")).toContain("score must be a whole number from 0 to 100.");
    printed.mockRestore();
    const { failure } = await runJson(
      eraseCommand(async () => {}),
      "--account",
      account,
      "--lead",
      ada.id,
      "--yes",
    );
    expect(failure).toBeUndefined();
    expect(await left(account, ada.id)).toEqual([]);
  });
});

test("an erasure of two leads without a scan follows a pointer of one to a conversation of the other once", async () => {
  const { account, ada, grace } = await aFilledAccount();
  await put({ ...activeConversationKey(account, ada.id, "sms"), conversationId: grace.whatsapp });
  const args = ["--account", account, "--no-scan", "--yes", "--lead"];
  for (const id of [grace.id, ada.id]) {
    const pending = { pk: `ERASED#${account}`, sk: id, id: "erasure_1", leadId: id, pending: true };
    await put(pending);
  }
  const { output, failure } = await runJson(
    eraseCommand(async () => {}),
    ...args,
    ada.id,
  );
  expect({ failure, ...output }).toMatchObject({ failure: undefined, conversations: 4, messages: 6 });
  expect([...(await left(account, ada.id)), ...(await left(account, grace.id))]).toEqual([]);
});
