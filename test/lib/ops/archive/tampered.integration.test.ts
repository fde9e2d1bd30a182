import { createHash, randomUUID } from "node:crypto";
import { readFile, rm, writeFile } from "node:fs/promises";
import { beforeAll, describe, expect, test } from "vitest";
import { writeLimit } from "../../../../lib/ops/accounts/account-limit.ts";
import { beginErasure } from "../../../../lib/ops/erasure/erased-leads.ts";
import { importCommand } from "../../../../lib/ops/leads/leads-import.ts";
import { Pace } from "../../../../shared/dynamodb/pace.ts";
import { tableName } from "../../../../shared/dynamodb/table-client.ts";
import { createdAt } from "../../../../shared/ids.ts";
import { runCommand } from "../../../support/command.ts";
import { filePath, leadFile } from "../../../support/lead-files.ts";
import { aLead, aMessage } from "../../../support/requests.ts";
import { compareItems, tableItems } from "../../../support/table-items.ts";
import { program } from "../support/program.ts";
import { accounts, exported } from "./support/restore.ts";
import { expectConsistent } from "./support/restored-items.ts";

type Line = Record<string, unknown>;

const account = randomUUID();

/** The archive of an account that has each type of line, two leads, two conversations and three messages. */
let lines: Line[];
let manifest: Line;
let path: string;

const parse = (text: string): Line[] =>
  text
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line));

beforeAll(async () => {
  const { id } = await aLead(account, { email: "ada@example.com", source: "fair", tags: ["vip"] });
  const { id: erased } = await aLead(account);
  await beginErasure(account, erased, new Pace());
  await writeLimit({ account, requests: 5 });
  await aMessage(account, id);
  await aMessage(account, id);
  await aMessage(account, id, "email");
  await runCommand(importCommand(), await leadFile("name\nGrace\n"), "--account", account);
  path = await exported(account);
  lines = parse(await readFile(path, "utf8"));
  manifest = JSON.parse(await readFile(`${path}.manifest.json`, "utf8"));
});

/** Writes an archive whose manifest fits, but for the changes. @returns its path */
async function writeArchive(text: string, changes: Line = {}): Promise<string> {
  const path = filePath(".jsonl");
  const sha256 = createHash("sha256").update(text).digest("hex");
  await writeFile(path, text);
  await writeFile(`${path}.manifest.json`, JSON.stringify({ ...manifest, sha256, ...changes }));
  return path;
}

/** Runs the import of an archive as an operator does. @returns what it printed on stderr */
async function refused(path: string): Promise<string> {
  const before = await tableItems();
  const args = ["accounts", "import", path, "--account", account, "--table", tableName];
  const { code, stdout, stderr } = await program(args);
  expect({ code, stdout }).toEqual({ code: 1, stdout: "" });
  expect(compareItems(before, await tableItems())).toEqual({ added: [], changed: [], deleted: [] });
  return stderr;
}

const toText = (changed: readonly Line[]) => changed.map((line) => `${JSON.stringify(line)}\n`).join("");

const future = "9999-12-31T00:00:00.000Z";
const lowerCase = "must be in lower case";
const ulid = "01M7ZA27P008RGE6JH5PA0WR2V";

/** A line of a type with other fields, and the field and the fault that are named. */
const tampered: [type: string, fields: Line, fault: string][] = [
  ["lead", { pk: "LIMIT#demo", sk: "requests", requests: 1 }, "pk is not a field of a lead"],
  ["lead", { imported: "no" }, "imported is not a field of a lead"],
  ["lead", { "\u001b[2J\nall good": 1 }, '"\\u001b[2J\\nall good" is not a field of a lead'],
  ["lead", { name: { S: "Ada" } }, "name must be a string, not a JSON object"],
  ["lead", { name: undefined }, "name is required"],
  ["lead", { name: " " }, "name must not be blank"],
  ["lead", { source: "Fair" }, `source ${lowerCase}`],
  ["lead", { tags: [5] }, "tags[0] must be a string, not a number"],
  ["lead", { score: 101 }, "score must be a whole number from 0 to 100"],
  ["lead", { id: "zzzz" }, "id must be lead_ followed by a ULID"],
  ["lead", { id: `lead_7${"Z".repeat(25)}` }, "id must not contain a future time"],
  ["lead", { id: `lead_${ulid}` }, "createdAt must be the time that the id contains"],
  ["limit", { requests: -5 }, "requests must be a whole number from 1 to 100000000"],
  ["limit", { requests: 1.5 }, "requests must be a whole number from 1 to 100000000"],
  ["limit", { account: "demo" }, "account is not a field of a limit"],
  [
    "limit",
    { type: "apiKey" },
    "type must be one of limit, erasedLead, leadImport, lead, conversation, message",
  ],
  ["erasedLead", { leadId: "lead_1" }, "leadId must be lead_ followed by a ULID"],
  ["erasedLead", { id: `lead_${ulid}` }, "id must be erasure_ followed by a ULID"],
  ["erasedLead", { pending: true }, "pending is not a field of an erased lead"],
  ["leadImport", { sha256: "account#1" }, "sha256 must be a SHA-256 in hexadecimal digits"],
  ["leadImport", { startedAt: future }, "startedAt must be between 1970 and now"],
  ["leadImport", { startedAt: "now" }, "startedAt must be a time such as 2026-11-21T01:59:00.000Z"],
  ["conversation", { leadId: 5 }, "leadId must be a string, not a number"],
  ["conversation", { leadId: `conv_${ulid}` }, "leadId must be lead_ followed by a ULID"],
  ["conversation", { channel: "WhatsApp" }, `channel ${lowerCase}`],
  ["conversation", { status: "Active" }, `status ${lowerCase}`],
  ["conversation", { messageCount: 0 }, "messageCount must be a whole number of at least 1"],
  ["conversation", { lastMessageAt: future }, "lastMessageAt must be between 1970 and now"],
  ["message", { message: "" }, "message must not be blank"],
  ["message", { conversationId: `conv_${ulid}` }, "conversationId must be conv_"],
  ["message", { leadId: `lead_${ulid}` }, "leadId must be lead_"],
  ["message", { channel: "email" }, "channel must be whatsapp, as in the conversation before it"],
  ["message", { createdAt: future }, "createdAt must be the time that the id contains"],
  ["message", { id: "msg_#" }, "id must be msg_ followed by a ULID"],
];

describe("an archive that was tampered with is refused with its line and field, and nothing is written", () => {
  test.each(tampered)("%s %j: %s", async (type, fields, fault) => {
    const index = lines.findIndex((line) => line.type === type);
    const changed = lines.with(index, { ...lines[index], ...fields });
    const file = await writeArchive(toText(changed));
    const stderr = await refused(file);
    expect(stderr.startsWith(`${file}, line ${index + 1}: ${fault}`)).toBe(true);
    expect(stderr.trim()).not.toContain("\n");
  });

  test.each<[what: string, tamper: (lines: readonly Line[]) => string, line: number, fault: string]>([
    [
      "a message without a conversation",
      (all) => toText(all.filter(({ type }) => type !== "conversation")),
      6,
      "type must not be message before a conversation.",
    ],
    [
      "a conversation without messages",
      (all) => toText(all.toSpliced(6, 2)),
      6,
      "the line must be followed by a message.",
    ],
    [
      "a last conversation without messages",
      (all) => toText(all.slice(0, -1)),
      9,
      "the line must be followed by a message.",
    ],
    [
      "a conversation twice, with messages of another lead",
      (all) => toText([...all, ...all.slice(-2).map((line) => ({ ...line, leadId: `lead_${ulid}` }))]),
      11,
      "id must be greater than that of the conversation before it.",
    ],
    [
      "another key before the first",
      (all) => toText(all).replace('{"type"', '{"__proto__":{},"type"'),
      1,
      "__proto__ is not a field of a limit.",
    ],
    [
      "a key twice",
      (all) => toText(all).replace('"requests":', '"requests":1,"requests":'),
      1,
      "requests must be given once.",
    ],
    ["an array", (all) => `${toText(all)}[]\n`, 11, "the line must be a JSON object."],
    ["no JSON", (all) => `${toText(all)}{\n`, 11, "the line must be valid JSON."],
    [
      "a line of 64 KB",
      (all) => `${toText(all)}${"x".repeat(70_000)}\n`,
      11,
      "the line must be at most 65536 bytes.",
    ],
  ])("%s", async (_, tamper, line, fault) => {
    const file = await writeArchive(tamper(lines));
    expect(await refused(file)).toContain(`${file}, line ${line}: ${fault}`);
  });

  test.each<[changes: Line, sentence: string]>([
    [{ lines: { limit: 9 } }, ": lines[erasedLead] is required."],
    [{ version: 2 }, " has the version 2, but this program reads version 1."],
    [{ format: "zip" }, ": format must be one of leads-and-conversations-account."],
    [{ account: { S: "demo" } }, ": account must be a string, not a JSON object."],
    [{ createdAt: "now" }, ": createdAt must be a time such as 2026-11-21T01:59:00.000Z."],
    [{ expiresAt: 1 }, ": expiresAt is not a field of a manifest."],
    [{ account: "a\u001b[2J" }, ": account must be the id of an account."],
  ])("a manifest with %j", async (changes, sentence) => {
    const file = await writeArchive(toText(lines), changes);
    expect(await refused(file)).toBe(`${file}.manifest.json${sentence}\n`);
  });

  test("a manifest that lies about the number of lines", async () => {
    const counts = manifest.lines as Record<string, number>;
    const file = await writeArchive(toText(lines), { lines: { ...counts, message: 4 } });
    expect(await refused(file)).toBe(`${file}.manifest.json: lines[message] must be 3, as in the file.\n`);
  });

  test("a file that differs from its manifest", async () => {
    const file = await writeArchive(toText(lines), { sha256: manifest.sha256 });
    const text = await readFile(file, "utf8");
    for (const damaged of [text.replace('"Grace"', '"Grade"'), text.slice(0, -1)]) {
      await writeFile(file, damaged);
      expect(await refused(file)).toBe(
        `${file} differs from its manifest: it is damaged, or of another export.\n`,
      );
    }
  });

  test("a manifest that is missing, or is no JSON object", async () => {
    const file = await writeArchive(toText(lines));
    await rm(`${file}.manifest.json`);
    expect(await refused(file)).toBe(
      `${file}.manifest.json cannot be read (ENOENT): an export writes it beside its file.\n`,
    );
    for (const [text, fault] of [
      ["{", " is not JSON."],
      ["[]", ": the manifest must be a JSON object, not an array."],
    ] as const) {
      await writeFile(`${file}.manifest.json`, text);
      expect(await refused(file)).toContain(`${file}.manifest.json${fault}`);
    }
  });
});

test("lines in any order are stored once, no lead that is erased in the file, and messages are counted", async () => {
  const [limit = {}, erased = {}, start = {}, ada = {}, grace = {}, conversation = {}, ...others] = lines;
  const [first = {}, second = {}, ...rest] = others;
  const id = String(erased.leadId);
  const file = await writeArchive(
    toText([
      { ...conversation, messageCount: 9, lastMessageAt: "2020-01-01T00:00:00.000Z" },
      ...[second, first, first, ...rest, grace, ada, ada, start],
      ...[{ ...grace, id, createdAt: createdAt(id) }, erased, limit, limit],
    ]),
    { lines: { ...(manifest.lines as object), limit: 2, lead: 4, message: 4 } },
  );
  const to = randomUUID();
  const { output } = await accounts("import", file, "--account", to, "--rename");
  expect(output).toMatchObject({ lines: 14, imported: 13, erased: 1 });
  await expectConsistent(to);
  expect(await readFile(await exported(to), "utf8")).toBe(await readFile(path, "utf8"));
});

test("the conversations of leads that do not exist are left out", async () => {
  const to = randomUUID();
  const file = await writeArchive(toText(lines.filter(({ type }) => type !== "lead")), {
    lines: { ...(manifest.lines as object), lead: 0 },
  });
  const args = ["accounts", "import", file, "--account", to, "--rename", "--table", tableName];
  expect((await program(args)).stdout).toBe(
    "8 lines: 3 imported, 0 replaced, 0 already there, 0 of erased leads, 5 of leads that do not exist.\n",
  );
  expect([...(await tableItems()).keys()].filter((key) => key.includes(to))).toHaveLength(3);
});
