import { randomUUID } from "node:crypto";
import { GetCommand, ScanCommand } from "@aws-sdk/lib-dynamodb";
import { describe, expect, test } from "vitest";
import { countAccounts } from "../../../../lib/ops/accounts/account-items.ts";
import { accountsCommand } from "../../../../lib/ops/accounts/accounts-command.ts";
import { issueApiKey } from "../../../../lib/ops/keys/api-key-changes.ts";
import { readFrozenAt } from "../../../../shared/domain/accounts.ts";
import { parseApiKey } from "../../../../shared/domain/api-key-format.ts";
import { findApiKey } from "../../../../shared/domain/api-keys.ts";
import * as keys from "../../../../shared/dynamodb/keys.ts";
import { Pace } from "../../../../shared/dynamodb/pace.ts";
import { type Item, readItem, tableName } from "../../../../shared/dynamodb/table-client.ts";
import { newId } from "../../../../shared/ids.ts";
import { maintainList } from "../../../../shared/pages/maintain/maintain-list.ts";
import { type CountedOwner, countedLists } from "../../../../shared/pages/tree/counted-list.ts";
import { emptyRoot } from "../../../../shared/pages/tree/root.ts";
import { commit } from "../../../../shared/pages/tree/tree-store.ts";
import { skipWaits } from "../../../support/cases/skipped-waits.ts";
import { runJson } from "../../../support/commands/command.ts";
import { anAccount } from "../../../support/commands/lead-files.ts";
import { call } from "../../../support/requests/call.ts";
import { aLead, aMessage } from "../../../support/requests/requests.ts";
import { aroundCalls, beforeCall, lateReads, type TableCommand } from "../../../support/tables/conditions.ts";
import { useTablesOfCommands } from "../../../support/tables/memory-tables.ts";
import { storedLead } from "../../../support/tables/stored.ts";
import { compareItems, put, remove, tableItems } from "../../../support/tables/table-items.ts";
import { fillAccount, itemsOf } from "../support/full-account.ts";
import { program } from "../support/program.ts";

useTablesOfCommands();

// Waits of many seconds are skipped.
skipWaits();

const countRows = (owner: CountedOwner, ids: readonly string[]) => {
  const labelKeys = [`LEAD#${owner.account}#fair`];
  const changes = ids.map((key) => ({ key, sequenceNumber: key, kind: "changed", labelKeys }) as const);
  return maintainList(owner, changes, { deadline: Date.now() + 60_000 });
};

/** A frozen account with items of every type, also a message whose conversation no longer exists. */
async function aFullAccount(account: string): Promise<void> {
  await fillAccount(account);
  await issueApiKey(account, { validUntil: "2020-01-01T00:00:00.000Z" });
  await put({ ...keys.messageKey(account, "conv_1", "msg_1"), message: "Hello" });
  const createdAt = "2026-01-01T00:00:00.000Z";
  await put({ ...keys.accountKey(account), createdAt, frozenAt: createdAt, requests: 5 });
}

const expiresAt = (item: Item | undefined) => 1000 * Number(item?.expiresAt);

/** Expects that only the empty roots of the account's lists are left, which expire after two days. */
async function expectErased(account: string): Promise<void> {
  const left = await itemsOf(account);
  expect([...left.keys()].sort()).toEqual([
    `COUNT#${account}#CONVERSATION root`,
    `COUNT#${account}#LEAD root`,
  ]);
  for (const item of left.values()) {
    expect(expiresAt(item) - Date.now()).toBeGreaterThan(47 * 3_600_000);
    expect(expiresAt(item) - Date.now()).toBeLessThanOrEqual(48 * 3_600_000 + 1000);
  }
  expect((await countAccounts(new Pace())).has(account)).toBe(false);
}

/** @param onWait called in place of each wait */
async function erase(account: string, onWait?: (milliseconds: number) => unknown, ...args: string[]) {
  using waits = skipWaits(onWait);
  const command = ["erase", "--account", account, "--yes", ...args];
  return { ...(await runJson(accountsCommand(), ...command)), waits: waits.lengths };
}

describe("accounts erase", () => {
  test("prints what the account has, asks for its name, and deletes all its items and none of its neighbours'", async () => {
    const account = "acme";
    for (const neighbour of ["acme-1", "acm", "acme.acme"]) await aFullAccount(neighbour);
    const neighbours = await tableItems();
    await aFullAccount(account);
    const before = await tableItems();
    const args = ["accounts", "erase", "--account", account, "--table", tableName, "--cache-seconds", "0"];
    const has = `The account ${account} has 1 account, 10 active, 1 address, 2 apiKey, 10 conversation, 4 count, 1 erasedLead, 1 externalId, 3 lead, 1 leadImport, 14 message.\n`;
    expect(await program([...args, "--dry-run"])).toMatchObject({ code: 0, stdout: has });
    expect(await tableItems()).toEqual(before);
    const { stderr, ...outcome } = await program(args, { input: `${account}\n` });
    expect(outcome).toEqual({
      code: 0,
      stdout: `The account ${account} is erased: 3 leads, and all that belonged to them.\n`,
    });
    expect(stderr).toContain(has);
    expect(stderr).toContain(
      "First check that the event source mapping of publish-events is Enabled and that its failure queue is empty",
    );
    const { changed, deleted } = compareItems(neighbours, await tableItems());
    expect({ changed, deleted }).toEqual({ changed: [], deleted: [] });
    await expectErased(account);
  });

  test("deletes what is left of an account that does not exist any more", async () => {
    const account = randomUUID();
    await aFullAccount(account);
    await remove(keys.accountKey(account));
    const { output } = await erase(account, undefined, "--dry-run");
    expect(output).toMatchObject({ account, lead: 3, message: 14, apiKey: 2 });
    expect((await erase(account, undefined, "--cache-seconds", "0")).failure).toBeUndefined();
    await expectErased(account);
    for (const args of [[], ["--dry-run"]])
      expect((await erase(account, undefined, ...args)).failure).toMatch(`There is no account ${account} in`);
  });

  test("deletes what requests write while their key is still accepted, and notes the erasure of each lead", async () => {
    const account = await anAccount();
    const { id } = await aLead(account);
    const noted = new Set<unknown>();
    using _ = aroundCalls((command, send) => {
      // Each note makes an event.
      for (const { Update } of command.input.TransactItems ?? [])
        if (Update?.Key.pk === `ERASED#${account}`) noted.add(Update.Key.sk);
      return send(command);
    });
    let late = "";
    const wait = async (milliseconds: number) => {
      if (milliseconds !== 3_635_000) return;
      late = (await aLead(account)).id;
      await aMessage(account, late);
      const body = { leadId: id, channel: "sms", message: "Hi" };
      expect((await call("send-message", { account, body })).status).toBe(404);
    };
    expect((await erase(account, wait)).output).toMatchObject({ leads: 2 });
    expect(noted).toEqual(new Set([id, late]));
    await expectErased(account);
  });

  test("fails if something still writes, and continues when it is run again", async () => {
    const account = await anAccount();
    await aLead(account);
    let scans = 0;
    // The whole table has been read in its eight parts: once to count the items, and once to delete them.
    const isSwept = (command: TableCommand) => {
      if (command instanceof ScanCommand && command.input.ConsistentRead) scans++;
      return scans === 16 && command instanceof GetCommand;
    };
    {
      using _ = beforeCall(isSwept, () => aLead(account));
      expect(await erase(account)).toMatchObject({
        output: undefined,
        failure: `The account ${account} was written to during its erasure. End imports and copies, then run the command again with the stage's authorizerCacheSeconds as --cache-seconds.`,
      });
    }
    expect((await erase(account)).output).toMatchObject({ leads: 1 });
    await expectErased(account);
  });

  test("leaves nothing behind when its deletions are counted later, whether the lists were counted before or not", async () => {
    const [account, small] = [await anAccount(), await anAccount()];
    const old = Date.now() - 3_600_000;
    const ids = Array.from({ length: 300 }, (_, i) => newId("lead", old + i));
    for (const id of ids) await put(storedLead(id, account, { source: "fair" }));
    const owner = { account, list: countedLists.lead };
    await countRows(owner, ids);
    const counts = [...(await itemsOf(account)).keys()].filter((key) => key.startsWith("COUNT"));
    expect(counts.filter((key) => key.endsWith(" root"))).toHaveLength(2);
    // Nodes of former counts, which an audit or a maintainer has replaced.
    for (const labelKey of [undefined, `LEAD#${account}#fair`])
      await put(keys.countNodeKey("lead", account, keys.nodeName(1, 1, ""), labelKey));
    const { id } = await aLead(small, { source: "fair" });
    const { conversationId } = await aMessage(small, id);
    const labelKey = `LEAD#${account}#expo`;
    // A maintainer that had read the root of the list before writes late.
    const late = async (milliseconds: number) => {
      if (milliseconds === 35_000) await commit({ ...owner, labelKey }, emptyRoot(Date.now()));
    };
    const { failure, waits } = await erase(account, late);
    expect(failure).toBeUndefined();
    expect(waits).toContain(35_000);
    expect((await erase(small)).failure).toBeUndefined();
    await countRows(owner, ids);
    await countRows({ ...owner, account: small }, [id]);
    await countRows({ account: small, list: countedLists.conversation }, [conversationId]);
    for (const each of [account, small]) await expectErased(each);
  });

  test("freezes the account, deletes its keys, including those that no index lists yet, and waits until no key works", async () => {
    const account = randomUUID();
    await aLead(account);
    const listed = await issueApiKey(account);
    let late: Disposable | undefined = lateReads();
    const { apiKey } = await issueApiKey(account);
    const waits: unknown[] = [];
    const wait = async (milliseconds: number) => {
      late?.[Symbol.dispose]();
      late = undefined;
      const frozenAt = await readFrozenAt(account);
      waits.push([milliseconds, frozenAt, await findApiKey(listed.apiKey), await findApiKey(apiKey)]);
    };
    expect((await erase(account, wait, "--cache-seconds", "60")).failure).toBeUndefined();
    // A deleted key works for a minute, and its last requests may write for another 35 seconds.
    const accepted = expect.objectContaining({ accountId: account });
    expect(waits).toEqual([[95_000, expect.any(String), "unknown", accepted]]);
    expect(await findApiKey(apiKey)).toBe("unknown");
    await expectErased(account);
  });

  test("keeps another account's key that has this account's index key, and continues past roots that cannot be read", async () => {
    const [account, other] = [await anAccount(), randomUUID()];
    await aLead(account);
    const { apiKey } = await issueApiKey(other);
    const { sha256 = "", keyId = "" } = parseApiKey(apiKey) ?? {};
    const byParent = keys.accountPartition("apiKey", account);
    const planted = { ...(await readItem(keys.apiKeyKey(sha256, keyId))), byParent };
    const nameless = { ...keys.apiKeyKey("hash", "key"), access: "full", byParent };
    for (const item of [
      ...[planted, nameless, { ...keys.countNodeKey("lead", account, "node#1#1#", "late") }],
      { ...keys.countNodeKey("lead", account, "root"), version: "1", last: 5 },
      { ...keys.countNodeKey("lead", account, "label#x y"), index: 5 },
      { ...keys.countNodeKey("lead", account, "label#"), labelKey: null },
    ])
      await put(item);
    const { failure, output } = await erase(account);
    const { pk, sk } = nameless;
    const reason = "its accountId is not a string";
    expect(output).toEqual({
      ...{ account, erased: true, leads: 1, invalid: [{ type: "apiKey", pk, sk, reason }] },
    });
    expect(failure).toMatch(
      /^These items were left as they are:\n.*\napiKey +KEY#hash +key +its accountId is not a string\n/,
    );
    expect(failure).toContain("then run the command again");
    expect(await readItem(keys.apiKeyKey(sha256, keyId))).toEqual(planted);
    await expectErased(account);
  });
});
