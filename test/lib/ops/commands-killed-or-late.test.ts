import { readFile } from "node:fs/promises";
import { beforeAll, describe, expect, test } from "vitest";
import { leadKey } from "../../../shared/dynamodb/keys.ts";
import { type Item, tableName } from "../../../shared/dynamodb/table-client.ts";
import { createdAt } from "../../../shared/ids.ts";
import { skipWaits } from "../../support/cases/skipped-waits.ts";
import { filePath, leadFile } from "../../support/commands/lead-files.ts";
import { killAtEachWrite, lateReads, smallPages, throttles } from "../../support/tables/conditions.ts";
import { useTablesOfCommands } from "../../support/tables/memory-tables.ts";
import { put } from "../../support/tables/table-items.ts";
import { email, fillAccount, itemsOf, withTexts } from "./support/full-account.ts";
import { program } from "./support/program.ts";

const memory = useTablesOfCommands();
skipWaits();

const account = "acme";
/** An account with the same items. */
const neighbour = "acme-1";

let ids: Awaited<ReturnType<typeof fillAccount>>;
let items: readonly Item[];
let start: ReturnType<typeof memory.snapshot>;

beforeAll(async () => {
  ids = await fillAccount(account);
  items = [...memory.items()];
  for (const item of items) memory.put(withTexts(item, (text) => text.replaceAll(account, neighbour)));
  start = memory.snapshot();
});

/** Restores the table, and stores only those items of the account for which a condition holds again. */
async function refill(condition: (item: Item) => boolean): Promise<void> {
  memory.restore(start);
  const others = items.filter((item) => !isOld(item));
  for (const item of others) memory.delete(item);
  for (const item of others) if (condition(item)) await put(item);
}

/** Whether an item is of the old conversation. Only an index lists a conversation that has ended. */
const isOld = ({ sk, conversationId }: Item) => [sk, conversationId].includes(ids.old);

/** The items of an account, without what differs between two runs of a command. Of counts, only the keys. */
async function stateOf(name: string): Promise<Record<string, unknown>> {
  const state = [...(await itemsOf(name))].map(
    ([key, { imported, changed, changeId, failureId, importId, storedAt, ...item }]) => [
      key,
      key.startsWith("COUNT") ? {} : key.startsWith("LEAD") ? { ...item, activeAt: isOfChange(item) } : item,
    ],
  );
  const text = JSON.stringify(Object.fromEntries(state)).replaceAll(name, "ACCOUNT");
  return JSON.parse(text.replaceAll(/(?<=erasure)_\w+|(?<=lead_\w{10})\w{16}|(?<="updatedAt":")[^"]+/g, ""));
}

/** Whether the sort key for lists by the last change is the time of the lead's last change. */
const isOfChange = ({ activeAt, details }: Item) => activeAt === Object(details).updatedAt;

let leads: string;
let importId: string;
beforeAll(async () => {
  leads = await leadFile(
    "name,source,createdAt,externalId,status,addresses.sms\nAda,fair,2026-01-01T00:00:00Z,crm-ada,booked,\nGrace,,2026-01-02T00:00:00Z,crm-grace,,1;2\nMary,,2026-01-03T00:00:00Z,,,\n",
  );
});

/** Runs a command on the account, unless its line names another one. */
async function ops(line: string) {
  const words = line.replace("ADA", ids.ada).replace("LEADS", leads).replace("IMPORT", importId).split(" ");
  const on = words.includes("--account") ? [] : ["--account", account];
  return program([...words, ...on, "--table", tableName, "--json"]);
}

const conditions = [
  ["in small pages", smallPages],
  ["before the indexes list its items", lateReads],
] as const;

describe.each(conditions)("an account is read completely %s", (_, condition) => {
  test.each([
    "leads show --lead ADA",
    "leads show --external-id crm-ada",
    `leads show --address email:${email}`,
    "leads export --output FILE",
    "leads erased",
    "leads erase --lead ADA --dry-run",
    "accounts export --output FILE",
    "accounts erase --dry-run",
  ])("by %s", async (line) => {
    const read = async () => {
      const path = filePath(".export");
      const { code, stdout } = await ops(line.replace("FILE", path));
      expect(code).toBe(0);
      const text = stdout.replaceAll(/"(?:createdAt|until|output)":"?[^",]+"?/g, "");
      return [text, line.endsWith("FILE") ? await readFile(path, "utf8") : ""];
    };
    let found: unknown;
    {
      using _condition = condition();
      await refill(() => true);
      found = await read();
    }
    expect(found).toEqual(await read());
  });
});

/** What else the tests of a command that changes the account need. */
interface Change {
  /** Whether an item is missing before the command runs. */
  readonly isAbsent?: (item: Item) => boolean;
  readonly prepare?: () => Promise<unknown>;
  /** Whether the command makes the account equal to its neighbour. */
  readonly isComplete?: boolean;
  /** Another command that completes the killed one. */
  readonly again?: string;
}

const changes: Readonly<Record<string, Change>> = {
  "accounts erase --yes --cache-seconds 0": {},
  // After the kill, the index may not list the lead any more.
  "leads erase --yes --lead ADA": { again: `leads erase --yes --email ${email}` },
  [`accounts copy --account ${neighbour} --from-table ${tableName} --to-account ${account} --replace --yes`]:
    {
      // A lead with its names, a conversation with its messages and lock, the account, the records of requests, and the notes of
      // an erasure and of an import.
      isAbsent: ({ pk, sk, leadId, conversationId }) =>
        sk === ids.ada ||
        ([`EXTERNAL#${account}`, `ADDRESS#${account}`].includes(String(pk)) && leadId === ids.ada) ||
        [sk, conversationId].includes(ids.chat) ||
        ["ACCOUNT", "ERASED", "IMPORT", "IDEMPOTENCY"].some((type) =>
          `${pk}#`.startsWith(`${type}#${account}#`),
        ),
      isComplete: true,
      // Also a changed lead, and a conversation with a wrong message count.
      prepare: async () => {
        const details = { name: "Spoiled", createdAt: createdAt(ids.grace) };
        await put({ ...leadKey(account, ids.grace), id: ids.grace, status: "booked", details });
        await put({ ...items.find(({ id }) => id === ids.mail), messageCount: 1 });
      },
    },
  "leads import LEADS": {},
  "leads import --undo IMPORT --yes": {
    prepare: async () => {
      ({ importId } = JSON.parse((await ops("leads import LEADS")).stdout));
    },
  },
  "leads import LEADS --update": {},
};

describe.each(Object.entries(changes))("%s", (line, { isAbsent, prepare, isComplete, again = line }) => {
  const before = async () => {
    await refill((item) => !isAbsent?.(item));
    await prepare?.();
  };
  let expected: unknown;
  let ofNeighbour: unknown;

  beforeAll(async () => {
    ofNeighbour = await stateOf(neighbour);
    await before();
    expect((await ops(line)).code).toBe(0);
    expected = await stateOf(account);
    if (isComplete) expect(expected).toEqual(ofNeighbour);
  });

  test.each(conditions)("has the same result %s", async (_condition, condition) => {
    {
      using _ = condition();
      await before();
      expect((await ops(line)).code).toBe(0);
    }
    expect(await stateOf(account)).toEqual(expected);
  });

  test("has the same result while the table throttles it", async () => {
    await before();
    {
      using _ = throttles();
      expect(await ops(line)).toMatchObject({ code: 0 });
    }
    expect(await stateOf(account)).toEqual(expected);
  });

  test("has the same result when it is killed at any of its writes and runs again", async () => {
    const kills = await killAtEachWrite(async (kill) => {
      await before();
      if (await kill(() => ops(line))) expect((await ops(again)).code).toBe(0);
      expect(await stateOf(account)).toEqual(expected);
    });
    expect(kills).toBeGreaterThan(0);
    expect(await stateOf(neighbour)).toEqual(ofNeighbour);
  });
});
