import { randomUUID } from "node:crypto";
import { PutCommand } from "@aws-sdk/lib-dynamodb";
import { describe, expect, test } from "vitest";
import { accountsCommand } from "../../../../lib/ops/accounts-command.ts";
import { issueApiKey } from "../../../../lib/ops/changes/api-key-changes.ts";
import { repairSublists } from "../../../../lib/ops/counts/repair-sublists.ts";
import { importCommand } from "../../../../lib/ops/import-export/leads-import.ts";
import { leadItem } from "../../../../shared/domain/leads.ts";
import { accountLimitKey, messageKey, rateWindowKey } from "../../../../shared/dynamodb/keys.ts";
import { table, tableName } from "../../../../shared/dynamodb/table-client.ts";
import { newId } from "../../../../shared/ids.ts";
import { maintain } from "../../../../shared/pages/maintenance/maintain.ts";
import { countedLists } from "../../../../shared/pages/tree/counted-list.ts";
import { call } from "../../../support/call.ts";
import { runCommand, runJson } from "../../../support/command.ts";
import { leadFile } from "../../../support/lead-files.ts";
import { createDataDirectory, ops } from "../../../support/ops.ts";
import { aLead, aMessage } from "../../../support/requests.ts";
import { compareItems, tableItems } from "../../../support/table-items.ts";

const noWait = async () => {};
const dataDirectory = await createDataDirectory();

const unchanged = { added: [], changed: [], deleted: [] };

const put = (Item: object) => table.send(new PutCommand({ TableName: tableName, Item: { ...Item } }));

/** An account with items of every type. */
async function aFullAccount(account: string): Promise<void> {
  await issueApiKey(account);
  await issueApiKey(account, { validUntil: "2020-01-01T00:00:00.000Z" });
  const headers = { "idempotency-key": randomUUID() };
  await call("create-lead", { account, body: { name: "Ada" }, headers });
  const { id: leadId } = await aLead(account, { source: "fair", email: "ada@example.com" });
  await aMessage(account, leadId);
  await aMessage(account, leadId, "email");
  // The conversation of this message no longer exists.
  await put({ ...messageKey(account, "conv_1", "msg_1"), message: "Hello" });
  await put({ ...rateWindowKey(account, 0), used: 1 });
  await put({ ...accountLimitKey(account), requests: 5 });
  const file = await leadFile(`name,source\n${"Ada,fair\n".repeat(200)}`);
  await runCommand(importCommand(noWait), file, "--account", account, "--rate", "100000");
}

/** Whether a key names an account; those of API keys do not. */
const names = (account: string) => (key: string) => new RegExp(`#${account}[# ]`).test(key);

describe("accounts erase", () => {
  test("deletes everything of the account, and nothing of its neighbours", async () => {
    const account = "acme";
    const before = await tableItems();
    for (const neighbour of ["acme-1", "acm", "acme.acme"]) await aFullAccount(neighbour);
    const neighbours = await tableItems();
    await aFullAccount(account);
    const all = await tableItems();
    expect(compareItems(before, all).added.filter(names(account)).length).toBeGreaterThan(200);
    const waits: number[] = [];
    const wait = async (milliseconds: number) => void waits.push(milliseconds);
    const { failure, output } = await runJson(accountsCommand(wait), "erase", "--account", account, "--yes");
    expect({ failure, output }).toEqual({
      failure: undefined,
      output: { account, erased: true, leads: 202 },
    });
    expect(compareItems(neighbours, await tableItems())).toEqual(unchanged);
    // A key that was just revoked still works for a minute, and its last request for eleven seconds.
    expect(Math.max(...waits)).toBeGreaterThan(65_000);
    expect(Math.max(...waits)).toBeLessThanOrEqual(71_000);
    const again = await runJson(accountsCommand(noWait), "erase", "--account", account, "--yes");
    expect(again.output).toEqual({ account, erased: true, leads: 0 });
    expect(compareItems(neighbours, await tableItems())).toEqual(unchanged);
  });

  test("deletes what requests write while their key is still accepted", async () => {
    const account = randomUUID();
    const { id } = await aLead(account);
    const before = await tableItems();
    const wait = async (milliseconds: number) => {
      if (milliseconds !== 11_000) return;
      await aMessage(account, (await aLead(account)).id);
      expect(
        (await call("send-message", { account, body: { leadId: id, channel: "sms", message: "Hi" } })).status,
      ).toBe(404);
    };
    const { output } = await runJson(accountsCommand(wait), "erase", "--account", account, "--yes");
    expect(output).toMatchObject({ leads: 2 });
    expect([...(await tableItems()).keys()].filter(names(account))).toEqual([]);
    expect(compareItems(before, await tableItems()).deleted.every(names(account))).toBe(true);
  });

  test("waits until the deletions are counted, and deletes the counts again that a late one makes", async () => {
    const account = randomUUID();
    const owner = { account, list: countedLists.lead };
    const old = Date.now() - 3_600_000;
    const ids = Array.from({ length: 300 }, (_, i) => newId("lead", old + i));
    const lead = { name: "Ada", score: 0, status: "new", source: "fair", tags: [], createdAt: "" } as const;
    for (const id of ids) await put(leadItem(account, { ...lead, tags: [], id }));
    const count = () => maintain(owner, ids, { deadline: Date.now() + 60_000 });
    await count();
    await repairSublists(owner, { wait: noWait });
    const counts = async () =>
      [...(await tableItems()).keys()].filter((key) => key.startsWith(`COUNT#${account}#`));
    expect(await counts()).toHaveLength(3);
    const left: [number, number][] = [];
    const wait = async (milliseconds: number) => {
      // The others are those of the pace.
      if (milliseconds !== 2000 && milliseconds !== 3000) return;
      left.push([milliseconds, (await counts()).length]);
      // The stream delivers the deletions after the second look, and once more when the counts are gone.
      if (left.length === 2 || left.length === 3) await count();
    };
    await runCommand(accountsCommand(wait), "erase", "--account", account, "--yes");
    expect(left).toEqual([
      ...[2000, 2000].map((delay) => [delay, 3]),
      // Gone, made again and gone: then nothing must be left three times.
      ...[0, 0, 0, 0].map((items) => [3000, items]),
    ]);
    expect([...(await tableItems()).keys()].filter(names(account))).toEqual([]);
  });

  test("--dry-run counts the items, and changes nothing", async () => {
    const account = randomUUID();
    await aFullAccount(account);
    const before = await tableItems();
    const args = ["accounts", "erase", "--account", account, "--local", "--dry-run"];
    const { code, stdout, stderr } = await ops(args, { dataDirectory });
    expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
    const numbers = "202 leads, 2 conversations, 3 messages, 2 keys, 0 erased leads and";
    expect(stdout).toMatch(new RegExp(`^The account ${account} has ${numbers} \\d+ other items\\.\n$`));
    const json = JSON.parse((await ops([...args, "--json"], { dataDirectory })).stdout);
    expect(json).toMatchObject({ account, leads: 202, keys: 2 });
    expect(compareItems(before, await tableItems())).toEqual(unchanged);
  });

  test.each(["", "acm\n", "ACME-2\n"])("asks for the name of the account, and refuses %j", async (input) => {
    const account = "acme-2";
    if (input === "") await aFullAccount(account);
    const before = await tableItems();
    const args = ["accounts", "erase", "--account", account, "--local"];
    const { code, stdout, stderr } = await ops(args, { dataDirectory, input });
    expect({ code, stdout }).toEqual({ code: 1, stdout: "" });
    expect(stderr).toContain("has 202 leads");
    expect(stderr).toMatch(
      /That is not the name of the account: nothing was erased\. Scripts use --yes\.\n$/,
    );
    expect(compareItems(before, await tableItems())).toEqual(unchanged);
  });

  test("erases an account whose name is typed", async () => {
    const account = randomUUID();
    await aLead(account);
    const args = ["accounts", "erase", "--account", account, "--local"];
    const { code, stdout } = await ops(args, { dataDirectory, input: `${account}\n` });
    expect({ code, stdout }).toEqual({
      code: 0,
      stdout: `The account ${account} is erased: 1 leads, and all that belonged to them.\n`,
    });
    expect([...(await tableItems()).keys()].filter(names(account))).toEqual([]);
  });
});
