import { randomUUID } from "node:crypto";
import { readFile } from "node:fs/promises";
import { beforeAll, describe, expect, test } from "vitest";
import { accountsCommand } from "../../../lib/ops/accounts/accounts-command.ts";
import { conversationsCommand } from "../../../lib/ops/conversations/conversations-command.ts";
import { leadsCommand } from "../../../lib/ops/leads/leads-command.ts";
import { eraseCommand } from "../../../lib/ops/leads/leads-erase.ts";
import { importCommand } from "../../../lib/ops/leads/leads-import.ts";
import { conversationItem } from "../../../shared/domain/conversations.ts";
import { leadItem } from "../../../shared/domain/leads.ts";
import {
  accountApiKeysPartition,
  accountLimitKey,
  activeConversationKey,
  apiKeyKey,
  countNodeKey,
  erasedLeadKey,
  externalIdKey,
  idempotencyKey,
  labelPartition,
  labelTreeKey,
  leadImportKey,
  leadKey,
  messageKey,
} from "../../../shared/dynamodb/keys.ts";
import { type Item, tableName } from "../../../shared/dynamodb/table-client.ts";
import { createdAt, newId } from "../../../shared/ids.ts";
import { countedLists } from "../../../shared/pages/tree/counted-list.ts";
import { emptyRoot, rootItem } from "../../../shared/pages/tree/root.ts";
import { treeKey } from "../../../shared/pages/tree/tree-store.ts";
import { runCommand } from "../../support/command.ts";
import { killAtEachWrite, lateReads, smallPages } from "../../support/conditions.ts";
import { filePath, leadFile } from "../../support/lead-files.ts";
import { useMemoryTables } from "../../support/memory-tables.ts";
import { skipWaits } from "../../support/skipped-waits.ts";
import { put, putItems, tableItems } from "../../support/table-items.ts";

useMemoryTables();

skipWaits();

const email = "ada@example.com";
const time = Date.now() - 3_600_000;
const [ada, grace, gone] = [0, 1, 2].map((i) => newId("lead", time + i)) as [string, string, string];
const [old, chat, mail, other, ended] = [0, 1, 2, 3, 4].map((i) => newId("conv", time + 10 + i)) as [
  ...[string, string, string, string, string],
];
/** Eight conversations are exported at a time. */
const more = Array.from({ length: 4 }, (_, i) => newId("conv", time + 15 + i));
const messages = Array.from({ length: 15 }, (_, i) => newId("msg", time + 20 + i));
const erasure = newId("erasure", time);

/** An account with items of each type, the same in each account. */
function itemsOf(account: string): Item[] {
  const lead = (id: string, source: string) =>
    leadItem(account, {
      ...{
        id,
        name: "Ada",
        email: id === ada ? email : "grace@example.com",
        score: 0,
        status: "new",
        source,
        tags: [],
      },
      createdAt: createdAt(id),
      ...(id === ada && { externalId: "crm-ada", metadata: { plan: "pro" } }),
    });
  const conversation = (id: string, leadId: string, channel: string, ids: string[], status = "active") => [
    conversationItem(account, {
      ...{ id, leadId, channel, status, messageCount: ids.length },
      lastMessageAt: createdAt(ids.at(-1) ?? ""),
    }),
    ...ids.map((messageId) => ({
      ...{ ...messageKey(account, id, messageId), id: messageId, conversationId: id, leadId, channel },
      ...{ message: "Hello", createdAt: createdAt(messageId) },
    })),
    ...(status === "active"
      ? [{ ...activeConversationKey(account, leadId, channel), conversationId: id }]
      : []),
  ];
  const list = { account, list: countedLists.lead };
  const labelKey = labelPartition("lead", account, "fair");
  const root = rootItem({ ...emptyRoot(1), version: 1 });
  return [
    ...[lead(ada, "fair"), lead(grace, "web"), { ...externalIdKey(account, "crm-ada"), leadId: ada }],
    ...conversation(chat, ada, "email", messages.slice(0, 5)),
    ...conversation(mail, ada, "whatsapp", messages.slice(5, 7)),
    ...conversation(other, grace, "whatsapp", messages.slice(7, 8)),
    ...conversation(ended, grace, "email", messages.slice(8, 9), "closed"),
    ...conversation(old, ada, "sms", messages.slice(9, 11), "closed"),
    ...more.flatMap((id, i) => conversation(id, grace, `${i}`, messages.slice(11 + i, 12 + i), "closed")),
    { ...erasedLeadKey(account, gone), id: erasure, leadId: gone },
    { ...leadImportKey(account, "0".repeat(64)), startedAt: createdAt(ada) },
    { ...accountLimitKey(account), requests: 5 },
    { ...idempotencyKey(account, "create-lead", "1"), ids: { id: ada } },
    {
      ...apiKeyKey("hash", account),
      byParent: accountApiKeysPartition(account),
      keyId: account,
      accountId: account,
    },
    ...[list, { ...list, labelKey }].map((owner) => ({ ...treeKey(owner, "root"), ...root })),
    { ...labelTreeKey("lead", account, labelKey), labelKey },
    { ...countNodeKey("lead", account, "node#1#1#"), entries: new Uint8Array() },
  ];
}

/** Stores such an account, without the items for which the condition does not hold. @returns its name */
async function fill(account: string, condition: (item: Item) => boolean = () => true): Promise<string> {
  await putItems(tableName, itemsOf(account).filter(condition));
  return account;
}

/** Only an index lists an ended conversation of a lead. */
const isOld = ({ sk, conversationId }: Item) => [sk, conversationId].includes(old);

/** What the table has of an account, without what differs from one run of a command to the next; of trees the names. */
async function stateOf(account: string): Promise<Record<string, unknown>> {
  const own = [...(await tableItems())].filter(
    ([key, item]) => key.includes(account) || item.accountId === account,
  );
  const state = own.map(([key, { imported, changed, changeId, startedAt, ...item }]) => [
    key,
    key.startsWith("COUNT") ? {} : item,
  ]);
  const text = JSON.stringify(Object.fromEntries(state)).replaceAll(account, "ACCOUNT");
  // The names of the trees of labels are hashes.
  return JSON.parse(
    text.replaceAll(/erasure_\w+/g, "erasure").replaceAll(/(?<=#)[\w-]{43}(?=[ "])/g, "HASH"),
  );
}

const neighbour = randomUUID();
beforeAll(() => fill(neighbour));

const on = (account: string) => ["--account", account];

describe.each([
  ["in small pages", smallPages],
  ["before the indexes list its items", lateReads],
])("an account is read completely %s", (_, condition) => {
  test.each([
    ["leads show", () => leadsCommand(), ["show", "--lead", ada]],
    ["leads show --external-id", () => leadsCommand(), ["show", "--external-id", "crm-ada"]],
    ["leads export", () => leadsCommand(), ["export", "--output"]],
    ["leads erased", () => leadsCommand(), ["erased"]],
    ["leads erase --dry-run", () => eraseCommand(), ["--lead", ada, "--dry-run"]],
    ["leads erase --dry-run --no-scan", () => eraseCommand(), ["--lead", ada, "--dry-run", "--no-scan"]],
    ["accounts export", () => accountsCommand(), ["export", "--output"]],
    ["accounts erase --dry-run", () => accountsCommand(), ["erase", "--dry-run"]],
  ] as const)("by %s", async (_name, command, args) => {
    const account = await fill(randomUUID(), isOld);
    const read = async () => {
      const path = filePath(".export");
      const output = args.at(-1) === "--output" ? [path] : [];
      const { printed, failure } = await runCommand(command(), ...args, ...output, ...on(account), "--json");
      expect(failure).toBeUndefined();
      const text = String(printed).replaceAll(/"(?:createdAt|until|output)":"?[^",]+"?/g, "");
      return [text, output.length > 0 ? await readFile(path, "utf8") : ""];
    };
    let found: unknown;
    {
      using _condition = condition();
      await fill(account, (item) => !isOld(item));
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

/** A command that changes an account, and the items that the account does not have before. */
interface Change {
  readonly run: (account: string) => ReturnType<typeof runCommand>;
  readonly isAbsent?: (account: string, item: Item) => boolean;
  readonly prepare?: (account: string) => Promise<unknown>;
  /** Whether it makes the account like its neighbour. */
  readonly isComplete?: boolean;
  /** Another command that finishes the same. */
  readonly again?: (account: string) => ReturnType<typeof runCommand>;
}

let leads: string;
beforeAll(async () => {
  leads = await leadFile(
    "name,source,createdAt,externalId,status\nAda,fair,2026-01-01T00:00:00Z,crm-ada,booked\nGrace,,2026-01-02T00:00:00Z,crm-grace,\nMary,,2026-01-03T00:00:00Z,,\n",
  );
});

const changes: Readonly<Record<string, Change>> = {
  "accounts erase": {
    run: (account) => runCommand(accountsCommand(), "erase", ...on(account), "--yes", "--cache-seconds", "0"),
  },
  "leads erase": {
    run: (account) => runCommand(eraseCommand(), ...on(account), "--yes", "--lead", ada),
    // The index no longer lists the lead.
    again: (account) => runCommand(eraseCommand(), ...on(account), "--yes", "--email", email),
  },
  "leads erase --no-scan": {
    run: (account) => runCommand(eraseCommand(), ...on(account), "--yes", "--no-scan", "--lead", ada),
  },
  "accounts copy": {
    run: (account) =>
      runCommand(
        accountsCommand(),
        ...["copy", ...on(neighbour), "--from-table", tableName, "--to-account", account],
        ...["--replace", "--yes"],
      ),
    // A lead with its external id, a conversation with its messages and lock, the limit, and the notes of an erasure
    // and of an import.
    isAbsent: (account, { pk, sk, leadId, conversationId }) =>
      sk === ada ||
      (pk === `EXTERNAL#${account}` && leadId === ada) ||
      [sk, conversationId].includes(chat) ||
      ["LIMIT", "ERASED", "IMPORT"].some((type) => pk === `${type}#${account}`),
    isComplete: true,
    // And a lead that was changed, and a conversation whose messages are not counted.
    prepare: async (account) => {
      await put({
        ...leadKey(account, grace),
        id: grace,
        status: "booked",
        details: { name: "Spoiled", createdAt: createdAt(grace) },
      });
      await put({ ...itemsOf(account).find(({ pk, sk }) => sk === mail && pk !== sk), messageCount: 1 });
    },
  },
  "leads import": { run: (account) => runCommand(importCommand(), leads, ...on(account)) },
  "leads import --update": {
    run: (account) => runCommand(importCommand(), leads, ...on(account), "--update"),
  },
  "conversations set-status active": {
    run: (account) =>
      runCommand(
        conversationsCommand(),
        ...["set-status", ...on(account), "--conversation", ended, "--status", "active"],
      ),
  },
  "conversations set-status closed": {
    run: (account) =>
      runCommand(
        conversationsCommand(),
        ...["set-status", ...on(account), "--conversation", chat, "--status", "closed"],
      ),
  },
};

describe.each(Object.entries(changes))("%s", (_name, { run, isAbsent, prepare, isComplete, again = run }) => {
  const before = async (account: string) => {
    await fill(account, (item) => !isOld(item) && !isAbsent?.(account, item));
    await prepare?.(account);
    return account;
  };
  let expected: unknown;
  let ofNeighbour: unknown;

  beforeAll(async () => {
    ofNeighbour = await stateOf(neighbour);
    const account = await before(await fill(randomUUID(), isOld));
    expect((await run(account)).failure).toBeUndefined();
    expected = await stateOf(account);
    if (isComplete) expect(expected).toEqual(ofNeighbour);
  });

  test.each([
    ["in small pages", smallPages],
    ["before the indexes list its items", lateReads],
  ])("does the same %s", async (_condition, condition) => {
    const account = await fill(randomUUID(), isOld);
    {
      using _ = condition();
      await before(account);
      expect((await run(account)).failure).toBeUndefined();
    }
    expect(await stateOf(account)).toEqual(expected);
  });

  test("does the same when it is killed at any of its writes, and runs again", async () => {
    const kills = await killAtEachWrite(async (kill) => {
      const account = await before(await fill(randomUUID(), isOld));
      if (await kill(() => run(account))) expect((await again(account)).failure).toBeUndefined();
      expect(await stateOf(account)).toEqual(expected);
    });
    expect(kills).toBeGreaterThan(0);
    expect(await stateOf(neighbour)).toEqual(ofNeighbour);
  });
});
