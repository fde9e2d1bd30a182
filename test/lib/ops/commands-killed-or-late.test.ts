import { readFile } from "node:fs/promises";
import { beforeAll, describe, expect, test } from "vitest";
import { accountsCommand } from "../../../lib/ops/accounts/accounts-command.ts";
import { leadsCommand } from "../../../lib/ops/leads/leads-command.ts";
import { eraseCommand } from "../../../lib/ops/leads/leads-erase.ts";
import { importCommand } from "../../../lib/ops/leads/leads-import.ts";
import { leadKey } from "../../../shared/dynamodb/keys.ts";
import { type Item, tableName } from "../../../shared/dynamodb/table-client.ts";
import { createdAt } from "../../../shared/ids.ts";
import { runCommand, runJson } from "../../support/command.ts";
import { killAtEachWrite, lateReads, smallPages } from "../../support/conditions.ts";
import { filePath, leadFile } from "../../support/lead-files.ts";
import { useTablesOfCommands } from "../../support/memory-tables.ts";
import { skipWaits } from "../../support/skipped-waits.ts";
import { put, putItems } from "../../support/table-items.ts";
import { email, fillAccount, itemsOf, withTexts } from "./support/full-account.ts";

const memory = useTablesOfCommands();
skipWaits();

const account = "acme";
/** An account that has the same. */
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

/** Stores those items of the account again for which a condition holds, and no others. */
async function refill(condition: (item: Item) => boolean): Promise<void> {
  memory.restore(start);
  for (const item of items) if (!isOld(item)) memory.delete(item);
  await putItems(
    tableName,
    items.filter((item) => !isOld(item) && condition(item)),
  );
}

/** Only an index lists an ended conversation of a lead. */
const isOld = ({ sk, conversationId }: Item) => [sk, conversationId].includes(ids.old);

/** What the table has of an account, without what differs from one run of a command to the next; of trees the names. */
async function stateOf(name: string): Promise<Record<string, unknown>> {
  const state = [...(await itemsOf(name))].map(
    ([key, { imported, changed, changeId, importId, storedAt, ...item }]) => [
      key,
      key.startsWith("COUNT") ? {} : key.startsWith("LEAD") ? { ...item, activeAt: isOfChange(item) } : item,
    ],
  );
  const text = JSON.stringify(Object.fromEntries(state)).replaceAll(name, "ACCOUNT");
  return JSON.parse(text.replaceAll(/(?<=erasure)_\w+|(?<=lead_\w{10})\w{16}|(?<="updatedAt":")[^"]+/g, ""));
}

/** Whether the time that lists by the last change have of a lead is that of the lead. */
const isOfChange = ({ activeAt, details }: Item) => activeAt === Object(details).updatedAt;

const ofAccount = ["--account", account];

describe.each([
  ["in small pages", smallPages],
  ["before the indexes list its items", lateReads],
])("an account is read completely %s", (_, condition) => {
  test.each([
    ["leads show", () => leadsCommand(), () => ["show", "--lead", ids.ada]],
    ["leads show --external-id", () => leadsCommand(), () => ["show", "--external-id", "crm-ada"]],
    ["leads show --address", () => leadsCommand(), () => ["show", "--address", `email:${email}`]],
    ["leads export", () => leadsCommand(), () => ["export", "--output"]],
    ["leads erased", () => leadsCommand(), () => ["erased"]],
    ["leads erase --dry-run", () => eraseCommand(), () => ["--lead", ids.ada, "--dry-run"]],
    [
      "leads erase --dry-run --no-scan",
      () => eraseCommand(),
      () => ["--lead", ids.ada, "--dry-run", "--no-scan"],
    ],
    ["accounts export", () => accountsCommand(), () => ["export", "--output"]],
    ["accounts erase --dry-run", () => accountsCommand(), () => ["erase", "--dry-run"]],
  ] as const)("by %s", async (_name, command, args) => {
    const read = async () => {
      const path = filePath(".export");
      const output = args().at(-1) === "--output" ? [path] : [];
      const { printed, failure } = await runCommand(
        command(),
        ...[...args(), ...output, ...ofAccount, "--json"],
      );
      expect(failure).toBeUndefined();
      const text = String(printed).replaceAll(/"(?:createdAt|until|output)":"?[^",]+"?/g, "");
      return [text, output.length > 0 ? await readFile(path, "utf8") : ""];
    };
    let found: unknown;
    {
      using _condition = condition();
      await refill(() => true);
      found = await read();
    }
    process.exitCode = undefined;
    expect(found).toEqual(await read());
  });
});

test("all accounts are read in small pages, and the keys of one", async () => {
  const list = () => runCommand(accountsCommand(), "list", "--json");
  const expected = await list();
  using _ = smallPages();
  expect(await list()).toEqual(expected);
});

/** A command that changes the account, and the items that the account does not have before. */
interface Change {
  readonly run: () => ReturnType<typeof runCommand>;
  readonly isAbsent?: (item: Item) => boolean;
  readonly prepare?: () => Promise<unknown>;
  /** Whether it makes the account like its neighbour. */
  readonly isComplete?: boolean;
  /** Another command that finishes the same. */
  readonly again?: () => ReturnType<typeof runCommand>;
}

let leads: string;
let importId: string;
beforeAll(async () => {
  leads = await leadFile(
    "name,source,createdAt,externalId,status,addresses.sms\nAda,fair,2026-01-01T00:00:00Z,crm-ada,booked,\nGrace,,2026-01-02T00:00:00Z,crm-grace,,1;2\nMary,,2026-01-03T00:00:00Z,,,\n",
  );
});

const changes: Readonly<Record<string, Change>> = {
  "accounts erase": {
    run: () => runCommand(accountsCommand(), "erase", ...ofAccount, "--yes", "--cache-seconds", "0"),
  },
  "leads erase": {
    run: () => runCommand(eraseCommand(), ...ofAccount, "--yes", "--lead", ids.ada),
    // The index no longer lists the lead.
    again: () => runCommand(eraseCommand(), ...ofAccount, "--yes", "--email", email),
  },
  "leads erase --no-scan": {
    run: () => runCommand(eraseCommand(), ...ofAccount, "--yes", "--no-scan", "--lead", ids.ada),
  },
  "accounts copy": {
    run: () =>
      runCommand(
        accountsCommand(),
        ...["copy", "--account", neighbour, "--from-table", tableName, "--to-account", account],
        ...["--replace", "--yes"],
      ),
    // A lead with its names, a conversation with its messages and lock, the limit, the records of requests, and the notes of
    // an erasure and of an import.
    isAbsent: ({ pk, sk, leadId, conversationId }) =>
      sk === ids.ada ||
      ([`EXTERNAL#${account}`, `ADDRESS#${account}`].includes(String(pk)) && leadId === ids.ada) ||
      [sk, conversationId].includes(ids.chat) ||
      ["LIMIT", "ERASED", "IMPORT", "IDEMPOTENCY"].some((type) => `${pk}#`.startsWith(`${type}#${account}#`)),
    isComplete: true,
    // And a lead that was changed, and a conversation whose messages are not counted.
    prepare: async () => {
      const details = { name: "Spoiled", createdAt: createdAt(ids.grace) };
      await put({ ...leadKey(account, ids.grace), id: ids.grace, status: "booked", details });
      await put({ ...items.find(({ id }) => id === ids.mail), messageCount: 1 });
    },
  },
  "leads import": { run: () => runCommand(importCommand(), leads, ...ofAccount) },
  "leads import --undo": {
    prepare: async () => {
      ({ importId } = (await runJson(importCommand(), leads, ...ofAccount)).output);
    },
    run: () => runCommand(importCommand(), "--undo", importId, "--yes", ...ofAccount),
  },
  "leads import --update": { run: () => runCommand(importCommand(), leads, ...ofAccount, "--update") },
};

describe.each(Object.entries(changes))("%s", (_name, { run, isAbsent, prepare, isComplete, again = run }) => {
  const before = async () => {
    await refill((item) => !isAbsent?.(item));
    await prepare?.();
  };
  let expected: unknown;
  let ofNeighbour: unknown;

  beforeAll(async () => {
    ofNeighbour = await stateOf(neighbour);
    await before();
    expect((await run()).failure).toBeUndefined();
    expected = await stateOf(account);
    if (isComplete) expect(expected).toEqual(ofNeighbour);
  });

  test.each([
    ["in small pages", smallPages],
    ["before the indexes list its items", lateReads],
  ])("does the same %s", async (_condition, condition) => {
    {
      using _ = condition();
      await before();
      expect((await run()).failure).toBeUndefined();
    }
    expect(await stateOf(account)).toEqual(expected);
  });

  test("does the same when it is killed at any of its writes, and runs again", async () => {
    const kills = await killAtEachWrite(async (kill) => {
      await before();
      if (await kill(run)) expect((await again()).failure).toBeUndefined();
      expect(await stateOf(account)).toEqual(expected);
    });
    expect(kills).toBeGreaterThan(0);
    expect(await stateOf(neighbour)).toEqual(ofNeighbour);
  });
});
