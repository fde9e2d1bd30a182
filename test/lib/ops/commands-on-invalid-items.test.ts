import { readFile } from "node:fs/promises";
import { NumberValue } from "@aws-sdk/lib-dynamodb";
import { beforeAll, describe, expect, test } from "vitest";
import { selectTableByOptions } from "../../../lib/ops/command/select-table.ts";
import { accountPartition, indexKeys, leadEmailPartition, leadKey } from "../../../shared/dynamodb/keys.ts";
import { type Item, type Key, tableName } from "../../../shared/dynamodb/table-client.ts";
import { createdAt, newId } from "../../../shared/ids.ts";
import { countedLists } from "../../../shared/pages/tree/counted-list.ts";
import { emptyRoot, rootItem } from "../../../shared/pages/tree/root.ts";
import { treeKey } from "../../../shared/pages/tree/tree-store.ts";
import { skipWaits } from "../../support/cases/skipped-waits.ts";
import { withFields } from "../../support/cases/with-fields.ts";
import { filePath, leadFile, readLines } from "../../support/commands/lead-files.ts";
import { useTablesOfCommands } from "../../support/tables/memory-tables.ts";
import { compareItems, put, remove, tableItems } from "../../support/tables/table-items.ts";
import { email, fillAccount, itemsOf } from "./support/full-account.ts";
import { program } from "./support/program.ts";

useTablesOfCommands();

// Waits of many seconds are skipped.
skipWaits();

const account = "acme";
const other = "acme-1";
const ofAccount = ["--account", account];
const secret = "SECRET";
const terminalCommands = "\u001b[2J\u009b31m\u007f\n\u202eko\u2028";
/** The name has text that reads from right to left: the API accepts it, but a terminal would reverse it. */
const name = "Ada \u202eecalevoL";

/** Values that are valid for no field. `String` throws for the second one. */
const hostileValues = [
  ...[undefined, { toString: "x", valueOf: { id: "x" } }, new Set(["x"]), new Uint8Array([27, 91])],
  ...[NumberValue.from("9".repeat(38)), null, [["x"], { x: 1 }], true, "x".repeat(3000), terminalCommands],
];
const fixed: readonly string[] = ["pk", "sk", "accountId", "keyId", ...indexKeys];

let ids: Awaited<ReturnType<typeof fillAccount>>;
let neighbour: typeof ids;
/** What the API has stored of the account. */
let healthy: ReadonlyMap<string, Item>;
let before: ReadonlyMap<string, Item>;

/** A copy of an item under another key, with the attributes that are derived from the key. */
function another(item: Item): Item & Key {
  const prefix = /^(?:lead|conv|msg)(?=_)/.exec(String(item.sk))?.[0] as "lead" | undefined;
  const sk = prefix ? newId(prefix) : `${item.sk} ${newId("change")}`;
  const same = Object.entries(item).map(([field, value]) => [field, value === item.sk ? sk : value]);
  const own = { externalId: sk, addresses: { email: [sk] }, createdAt: prefix && createdAt(sk) };
  const has = Object.entries(own).filter(([field]) => field in { ...item, ...Object(item.details) });
  return withFields(Object.fromEntries(same), Object.fromEntries(has));
}

beforeAll(async () => {
  ids = await fillAccount(account);
  neighbour = await fillAccount(other);
  const stored = await tableItems();
  const ada = stored.get(`LEAD#${account} ${ids.ada}`) ?? {};
  const ofOther = stored.get(`LEAD#${other} ${neighbour.ada}`) ?? {};
  await put(withFields(ada, { name }));
  healthy = await itemsOf(account);
  // One item of each type, of this lead and this conversation if there is one.
  const score = (item: Item) => [ids.ada, ids.chat].filter((id) => JSON.stringify(item).includes(id)).length;
  const ranked = [...healthy.values()].toSorted((a, b) => score(a) - score(b));
  const ofTypes = new Map(ranked.map((item) => [String(item.pk).split("#")[0], item]));
  const spoiled = [...ofTypes.values()].flatMap((item) =>
    Object.keys({ ...item, ...Object(item.details) })
      .filter((field) => !fixed.includes(field))
      .flatMap((field) => hostileValues.map((value) => withFields(another(item), { [field]: value }))),
  );
  const message = ofTypes.get("MESSAGE") ?? {};
  const root = rootItem({ ...emptyRoot(1), version: 1, watermark: "~" });
  const misleading = [
    ...[ids.grace, neighbour.ada].map((leadId) => ({ ...another(message), leadId, message: secret })),
    { ...ofOther, byParent: leadEmailPartition(account, email) },
    { ...another(ada), pk: accountPartition("lead", terminalCommands) },
    ...Object.values(countedLists).map((list) => ({ ...treeKey({ account, list }, "root"), ...root })),
  ];
  await selectTableByOptions({ table: tableName });
  for (const item of [...spoiled, ...misleading]) await put(item);
  before = await tableItems();
});

/** Runs a command. Its output must be short, without control characters, stacks and data of another account. */
async function ops(...args: string[]) {
  const { code, stdout, stderr } = await program([...args, "--table", tableName]);
  expect(stderr).not.toMatch(/^\s+at |\w+Error\b/m);
  const printed = `${stdout}${stderr}`;
  expect(printed.replaceAll("\n", "")).not.toMatch(/[\p{Cc}\u2028\u2029\p{Bidi_Control}]/u);
  for (const text of [secret, neighbour.ada]) expect(printed).not.toContain(text);
  expect(stderr.length).toBeLessThan(30_000);
  return { code, stdout, stderr };
}

const countOf = (...types: string[]) =>
  [...before.keys()].filter((key) => types.some((type) => new RegExp(`^${type}#${account}[# ]`).test(key)))
    .length;

describe("with invalid items in the table", () => {
  test("leads show prints the valid items, and reports the others", async () => {
    for (const person of [
      ["--lead", ids.ada],
      ["--email", email],
    ]) {
      const { code, stdout, stderr } = await ops("leads", "show", ...ofAccount, ...person, "--json");
      expect(code).toBe(3);
      const { leads } = JSON.parse(stdout);
      const [own] = leads.filter(({ lead }: { lead: Item }) => lead.id === ids.ada);
      expect(own.lead).toMatchObject({ name, email });
      const [chat] = own.conversations.filter(({ id }: Item) => id === ids.chat);
      // Some planted messages are valid: those with another text, without a part of a report or the address, or with
      // other marks of a change.
      const texts = chat.messages.map(({ message }: Item) => String(message).slice(0, 5));
      const others = Array(7 + 2 * hostileValues.length).fill("Hello");
      expect(texts.toSorted()).toEqual([...others, "xxxxx"]);
      expect(stderr).toMatch(/^These items were left out:\n/);
    }
    const { code, stdout } = await ops("leads", "show", ...ofAccount, "--email", email);
    expect(code).toBe(3);
    expect(stdout).toContain('"name": "Ada \\u202eecalevoL"');
  });

  test("leads export writes the leads that the API serves, and an import rejects only an email address that it would not store", async () => {
    const path = filePath(".csv");
    const { code, stdout } = await ops("leads", "export", ...ofAccount, "--output", path, "--json");
    expect(code).toBe(3);
    const { exported, invalid } = JSON.parse(stdout);
    expect(exported + invalid).toBe(countOf("LEAD"));
    const text = await readFile(path, "utf8");
    for (const each of [ids.ada, ids.grace, name]) expect(text).toContain(each);
    const checked = await ops("leads", "import", path, ...ofAccount, "--dry-run", "--json");
    expect(JSON.parse(checked.stdout)).toMatchObject({ rows: exported, valid: exported - 1, rejected: 1 });
    expect((await ops("leads", "import", path, ...ofAccount, "--dry-run")).stdout).toMatch(
      / Line \d+: email /,
    );
  });

  test("accounts export and accounts copy accept the same items", async () => {
    const path = filePath(".jsonl");
    const { code, stdout } = await ops("accounts", "export", ...ofAccount, "--output", path, "--json");
    expect(code).toBe(3);
    const lines = await readLines(path);
    const report = JSON.parse(stdout);
    expect(lines.length + report.invalid).toBe(
      countOf("LEAD", "CONVERSATION", "ACCOUNT", "ERASED", "IMPORT", "MESSAGE"),
    );
    expect(lines).toContainEqual(expect.objectContaining({ type: "lead", id: ids.ada, name }));
    const copy = ["accounts", "copy", ...ofAccount, "--from-table", tableName, "--to-account", "copy"];
    const copied = await ops(...copy, "--dry-run", "--json");
    expect(copied.code).toBe(3);
    const { stored, erased, left, invalid } = JSON.parse(copied.stdout);
    // Records of requests are copied as they are.
    const hasRecord = ({ pk, expiresAt }: Item) =>
      String(pk).startsWith(`IDEMPOTENCY#${account}#`) && typeof expiresAt === "number";
    const records = [...before.values()].filter(hasRecord);
    expect(stored + erased + left).toBe(lines.length + records.length);
    expect(invalid).toHaveLength(report.invalid + left);
  });

  test.each([
    [3, "leads", "erased", ...ofAccount],
    [1, "leads", "erase", ...ofAccount, "--email", email, "--dry-run"],
    [0, "accounts", "erase", ...ofAccount, "--dry-run"],
    [0, "accounts", "list"],
    [0, "keys", "list", ...ofAccount],
    [1, "counts", "verify", ...ofAccount],
  ])("with the exit code %i: %s %s %s %s %s", async (code, ...args) => {
    expect(await ops(...args)).toMatchObject({ code });
  });

  test.each(["source", "score"])("an update of a lead whose %s is invalid fails", async (field) => {
    const pk = accountPartition("lead", account);
    const isSpoiled = (item: Item) =>
      item.pk === pk && typeof { ...item, ...Object(item.details) }[field] === "object";
    const id = String([...before.values()].find(isSpoiled)?.sk);
    const path = await leadFile(`id,status\n${id},booked\n`);
    expect(await ops("leads", "import", path, ...ofAccount, "--update")).toEqual({
      code: 1,
      stdout: "",
      stderr: expect.stringContaining(
        `: The item ${pk} ${id} is not valid: its ${field} is invalid. Correct or delete it in the table. Run the same command again to continue.\n`,
      ),
    });
  });

  test("an import that finds an invalid record of a row fails", async () => {
    const path = await leadFile("name\nAda\n");
    await ops("leads", "import", path, ...ofAccount);
    const after = await tableItems();
    const made = [...after].filter(([name]) => !before.has(name)).map(([, { pk, sk }]) => ({ pk, sk }));
    const { pk, sk } = made.find((key) => String(key.pk).startsWith("IMPORT")) ?? {};
    await put({ pk, sk, leadId: { toString: "x" } });
    const { code, stderr } = await ops("leads", "import", path, ...ofAccount);
    expect({ code, stderr }).toEqual({
      code: 1,
      stderr: expect.stringContaining(
        `: The item ${pk} ${sk} is not valid: its leadId is invalid. Correct or delete it in the table.`,
      ),
    });
    for (const key of made) await remove(key as Key);
  });

  test("these commands change nothing", async () => {
    expect(compareItems(before, await tableItems())).toEqual({ added: [], changed: [], deleted: [] });
  });
});

test("leads erase deletes all items of a lead, and nothing else", async () => {
  const { code, stderr } = await ops("leads", "erase", ...ofAccount, "--lead", ids.ada, "--yes");
  expect({ code, stderr }).toEqual({ code: 1, stderr: expect.stringMatching(/then run the command again/) });
  const { changed, deleted } = compareItems(before, await tableItems());
  expect(changed).toEqual([]);
  const own = [ids.ada, ids.chat, ids.mail, ids.old];
  const isOfAda = ([key, { leadId, ids: made }]: [string, Item]) =>
    own.some((id) => [key, JSON.stringify([leadId, made])].some((text) => text.includes(id)));
  expect(deleted.filter((key) => !isOfAda([key, before.get(key) ?? {}]))).toEqual([]);
  // The record of the request that created her stays, so that a retry does not create her again.
  const isKept = ({ pk, ids }: Item) => String(pk).startsWith("IDEMPOTENCY") && !Object(ids).conversationId;
  const expected = [...healthy].filter((each) => isOfAda(each) && !isKept(each[1])).map(([key]) => key);
  expect(deleted.filter((key) => healthy.has(key))).toEqual(expected.sort());
  expect((await tableItems()).has(`${leadKey(other, neighbour.ada).pk} ${neighbour.ada}`)).toBe(true);
});

test("accounts erase deletes everything of the account, and nothing of another one", async () => {
  const { code, stderr } = await ops("accounts", "erase", ...ofAccount, "--yes", "--cache-seconds", "0");
  expect(code).toBe(0);
  const named = Array.from(stderr.matchAll(/event: '(.*)',[^}]*tree: '(.*)'/g), ([, ...parts]) => parts);
  const trees = ["LEAD", "CONVERSATION"].map((type) => ["counts damaged", `COUNT#${account}#${type}`]);
  expect(named).toEqual(trees);
  expect([...(await itemsOf(account)).keys()].sort()).toEqual(trees.map(([, pk]) => `${pk} root`).sort());
  const { changed, deleted } = compareItems(before, await tableItems());
  expect([...changed, ...deleted].filter((key) => key.includes(other))).toEqual([]);
});
