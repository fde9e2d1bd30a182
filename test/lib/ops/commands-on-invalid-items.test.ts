import { readFile } from "node:fs/promises";
import { beforeAll, describe, expect, test } from "vitest";
import { selectTableByOptions } from "../../../lib/ops/command/select-table.ts";
import { issueApiKey } from "../../../lib/ops/keys/api-key-changes.ts";
import { rowToLead } from "../../../lib/ops/leads/row-to-lead.ts";
import { itemTypes, leadImportKey, listPartition } from "../../../shared/dynamodb/keys.ts";
import { type Item, tableName } from "../../../shared/dynamodb/table-client.ts";
import { inParallel } from "../../../shared/in-parallel.ts";
import { fieldsOf } from "../../../shared/schemas/record.ts";
import { call } from "../../support/call.ts";
import { filePath, leadFile, readLines } from "../../support/lead-files.ts";
import { useMemoryTables } from "../../support/memory-tables.ts";
import { aLead, aMessage } from "../../support/requests.ts";
import { skipWaits } from "../../support/skipped-waits.ts";
import { compareItems, put, remove, tableItems } from "../../support/table-items.ts";
import { fillAccount, itemsOf as itemsOfAccount, withTexts } from "./support/full-account.ts";
import { plantedItems, secret } from "./support/planted-items.ts";
import { program } from "./support/program.ts";

const memory = useMemoryTables();
const empty = memory.snapshot();

// What operators wait for is another test's.
skipWaits();

const account = "acme";
const other = "acme-1";
const email = "ada@example.com";
/** The address reads from right to left: an API accepts it, and a terminal would turn it around. */
const name = "Ada \u202eecalevoL";

let planted: readonly Item[];
let before: ReadonlyMap<string, Item>;
let ada: Awaited<ReturnType<typeof aPerson>>;
let bob: typeof ada;
/** What the API has stored. */
let healthy: ReadonlyMap<string, Item>;

/** A lead with a conversation of two messages, and a record of its request. */
async function aPerson(account: string, name: string, email: string, text: string) {
  const lead = await aLead(account, { name, email, externalId: email, source: "web" });
  const messages = [];
  for (const part of ["first", "second"])
    messages.push(await aMessage(account, lead.id, "whatsapp", `${text} ${part}`));
  const { data } = (await call("list-conversations", { account, query: `leadId=${lead.id}` })).body;
  return { lead, conversation: { ...data[0], messages }, conversationId: messages[0]?.conversationId ?? "" };
}

/** The items of an account, or of some of its types. */
const itemsOf = (items: ReadonlyMap<string, Item>, account: string, types = Object.values(itemTypes)) =>
  [...items.keys()].filter((key) => types.some((type) => new RegExp(`^${type}#${account}[# ]`).test(key)));

beforeAll(async () => {
  // Like those of the account that are planted.
  const ids = await fillAccount(account);
  const stored = await itemsOfAccount(account);
  memory.restore(empty);
  ada = await aPerson(account, name, email, "To Ada");
  bob = await aPerson(account, "Bob", "bob@example.com", secret);
  const neighbour = await aPerson(
    other,
    `${secret} of another account`,
    email,
    `${secret} of another account`,
  );
  const { lead, conversationId } = ada;
  const named = (text: string) => text.replaceAll(ids.ada, lead.id).replaceAll(ids.chat, conversationId);
  const seeds = [...stored.values()].map((item) => withTexts(item, named));
  for (const owner of [account, other]) await issueApiKey(owner);
  healthy = await tableItems();
  const ofOthers = { lead: bob.lead.id, conversation: neighbour.conversationId };
  const others = { account: other, ...ofOthers, externalId: `${bob.lead.externalId}` };
  planted = plantedItems(seeds, {
    account,
    email,
    lead: lead.id,
    conversation: conversationId,
    other: others,
  });
  await selectTableByOptions({ table: tableName });
  await inParallel(planted, put);
  before = await tableItems();
});

/** Runs a command. What it prints has no control characters, no stack, nothing of another account, and few lines. The time of a test is limited. */
async function ops(...args: string[]) {
  const { code, stdout, stderr } = await program([...args, "--table", tableName]);
  expect(stderr).not.toMatch(/^\s+at |\w+Error\b/m);
  expect(`${stdout}${stderr}`.replaceAll("\n", "")).not.toMatch(/[\p{Cc}\u2028\u2029\p{Bidi_Control}]/u);
  expect(`${stdout}${stderr}`).not.toContain(`${secret} of another account`);
  expect(stderr.length).toBeLessThan(30_000);
  return { code, stdout, stderr };
}

const ofAccount = ["--account", account];

describe("a command that changes nothing", () => {
  test("leads show", async () => {
    for (const person of [
      ["--lead", ada.lead.id],
      ["--email", email],
      ["--external-id", email],
    ]) {
      const { code, stdout, stderr } = await ops("leads", "show", ...ofAccount, ...person, "--json");
      expect(code).toBe(3);
      const { leads } = JSON.parse(stdout);
      const [own] = leads.filter(({ lead }: typeof ada) => lead.id === ada.lead.id);
      expect(own.lead).toEqual(ada.lead);
      const [conversation] = own.conversations.filter(({ id }: { id: string }) => id === ada.conversationId);
      expect(conversation.messages).toEqual(expect.arrayContaining([...ada.conversation.messages]));
      expect(stdout).not.toContain(secret);
      expect(stderr).toMatch(/^These items are not valid and were left out:\n/);
    }
    const { code, stdout } = await ops("leads", "show", ...ofAccount, "--email", email);
    expect(code).toBe(3);
    expect(stdout).toContain('"name": "Ada \\u202eecalevoL"');
    expect(stdout).not.toContain(secret);
  });

  test("leads export, which an import takes", async () => {
    const path = filePath(".csv");
    const { code, stdout } = await ops("leads", "export", ...ofAccount, "--output", path, "--json");
    expect(code).toBe(3);
    const { exported, invalid } = JSON.parse(stdout);
    expect(exported + invalid).toBe(itemsOf(before, account, ["LEAD"]).length);
    const text = await readFile(path, "utf8");
    for (const { lead } of [ada, bob]) expect(text).toContain(lead.id);
    expect(text).toContain(name);
    expect(text).not.toContain(secret);
    const checked = await ops("leads", "import", path, ...ofAccount, "--dry-run", "--json");
    // The external id of another lead.
    expect(checked).toMatchObject({ code: 3, stderr: "" });
    expect(JSON.parse(checked.stdout)).toMatchObject({ rows: exported, valid: exported - 1, rejected: 1 });
  });

  test("accounts export, and a copy, which has the same", async () => {
    const path = filePath(".jsonl");
    const { code, stdout } = await ops("accounts", "export", ...ofAccount, "--output", path, "--json");
    expect(code).toBe(3);
    const lines = await readLines(path);
    const types = ["LEAD", "CONVERSATION", "LIMIT", "ERASED", "IMPORT"] as const;
    const messages = itemsOf(before, account, ["MESSAGE"]).length;
    expect(lines.length + JSON.parse(stdout).invalid).toBe(
      itemsOf(before, account, [...types]).length + messages,
    );
    expect(lines).toEqual(
      expect.arrayContaining([
        { type: "lead", ...ada.lead },
        { type: "lead", ...bob.lead },
      ]),
    );
    for (const { conversation } of [ada, bob])
      for (const message of conversation.messages)
        expect(lines).toContainEqual({ type: "message", ...message });
    const copy = ["accounts", "copy", ...ofAccount, "--from-table", tableName, "--to-account", "copy"];
    const copied = await ops(...copy, "--dry-run", "--json");
    expect(copied.code).toBe(3);
    const { stored, erased, left, invalid } = JSON.parse(copied.stdout);
    expect(stored + erased + left).toBe(lines.length);
    expect(invalid).toHaveLength(JSON.parse(stdout).invalid);
  });

  test.each([
    [3, "leads", "erased", ...ofAccount],
    [1, "leads", "erase", ...ofAccount, "--email", email, "--dry-run"],
    [1, "leads", "erase", ...ofAccount, "--email", email, "--dry-run", "--no-scan"],
    [0, "accounts", "erase", ...ofAccount, "--dry-run"],
    [3, "accounts", "list"],
    [0, "accounts", "show-limit", ...ofAccount],
    [0, "keys", "list", ...ofAccount],
    [1, "counts", "verify", ...ofAccount],
  ])("with the exit code %i: %s %s %s %s %s", async (code, ...args) => {
    expect(await ops(...args)).toMatchObject({ code });
  });

  test("a change of an item that is invalid", async () => {
    const find = (type: "lead" | "conversation", attribute: string) =>
      String(
        planted.find(
          (item) => item.pk === listPartition(type, account) && typeof fieldsOf(item)[attribute] === "object",
        )?.sk,
      );
    for (const [type, field] of [
      ["lead", "source"],
      ["lead", "score"],
      ["conversation", "channel"],
      ["conversation", "leadId"],
    ] as const) {
      const id = find(type, field);
      const ofItem = [`--${type}`, id, "--status", type === "lead" ? "booked" : "closed"];
      expect(await ops(`${type}s`, "set-status", ...ofAccount, ...ofItem)).toEqual({
        code: 1,
        stdout: "",
        stderr: `The item ${listPartition(type, account)} ${id} is not valid: its ${field} is invalid. Correct or delete it in the table.\n`,
      });
    }
  });

  test("an import whose record is invalid", async () => {
    const path = await leadFile("name\nAda\n");
    const context = { startedAt: 0, update: false, lines: new Map(), equals: new Map() };
    const row = rowToLead({ name: "Ada" }, 2, 0, context);
    const sha256 = "lead" in row ? row.digest.toString("hex") : "";
    const key = leadImportKey(account, sha256);
    await put({ ...key, startedAt: { toString: "x" } });
    const { code, stderr } = await ops("leads", "import", path, ...ofAccount);
    expect({ code, stderr }).toEqual({
      ...{ code: 1, stderr: expect.stringContaining(`delete the item ${key.pk} ${sha256} in the table.`) },
    });
    await remove(key);
  });

  test("counts verify compares the lists of other accounts", async () => {
    expect(await ops("counts", "verify", "--account", other)).toEqual({
      ...{ code: 0, stdout: `The counts of the account ${other} are correct.\n`, stderr: "" },
    });
  });

  test("changes nothing", async () => {
    expect(compareItems(before, await tableItems())).toEqual({ added: [], changed: [], deleted: [] });
  });
});

test("leads erase deletes what is of the leads with an address, and nothing else", async () => {
  const args = [...ofAccount, "--email", email, "--yes", "--json"];
  const { code, stdout, stderr } = await ops("leads", "erase", ...args);
  expect({ code, stderr }).toEqual({ code: 1, stderr: expect.stringMatching(/then run the command again/) });
  const leads: string[] = JSON.parse(stdout).leads;
  expect(leads).toContain(ada.lead.id);
  const { changed, deleted } = compareItems(before, await tableItems());
  expect(changed.filter((name) => !name.startsWith(`ERASED#${account} `))).toEqual([]);
  const isOfLead = (name: string) => {
    const { pk, sk, leadId, ids } = before.get(name) ?? {};
    const names = [pk, sk, leadId, JSON.stringify(ids)].filter((text) => typeof text === "string");
    return [...leads, ada.conversationId].some((id) => names.some((text) => text.includes(id)));
  };
  expect(deleted.filter((name) => !isOfLead(name))).toEqual([]);
  const ofAda = [...healthy].filter((entry) => JSON.stringify(entry).includes(ada.lead.id));
  expect(ofAda.length).toBe(6);
  expect(deleted.filter((name) => healthy.has(name)).sort()).toEqual(ofAda.map(([name]) => name).sort());
});

test("accounts erase deletes everything of the account, and nothing of another one", async () => {
  const { code, stderr } = await ops("accounts", "erase", ...ofAccount, "--yes", "--cache-seconds", "0");
  expect(code).toBe(0);
  const named = Array.from(stderr.matchAll(/event: '(.*)',[^}]*tree: '(.*)'/g), ([, ...parts]) => parts);
  const trees = ["LEAD", "CONVERSATION"].map((type) => ["counts damaged", `COUNT#${account}#${type}`]);
  expect(named).toEqual(trees);
  const after = await tableItems();
  expect(itemsOf(after, account).sort()).toEqual([
    `COUNT#${account}#CONVERSATION root`,
    `COUNT#${account}#LEAD root`,
  ]);
  const isOther = ([name]: [string, unknown]) => !itemsOf(new Map([[name, {}]]), account).length;
  const others = new Map([...before].filter(isOther));
  const { changed, deleted } = compareItems(others, new Map([...after].filter(isOther)));
  expect({ changed, deleted: deleted.filter((name) => !name.startsWith("KEY#")) }).toEqual({
    changed: [],
    deleted: [],
  });
});
