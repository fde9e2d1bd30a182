import { randomUUID } from "node:crypto";
import { beforeEach, describe, expect, test } from "vitest";
import { accountsCommand } from "../../../../lib/ops/accounts/accounts-command.ts";
import { beginErasure, endErasure } from "../../../../lib/ops/erasure/erased-leads.ts";
import { leadsCommand } from "../../../../lib/ops/leads/leads-command.ts";
import { eraseCommand } from "../../../../lib/ops/leads/leads-erase.ts";
import { importCommand } from "../../../../lib/ops/leads/leads-import.ts";
import { activeConversationKey, leadKey } from "../../../../shared/dynamodb/keys.ts";
import { Pace } from "../../../../shared/dynamodb/pace.ts";
import { readItem, tableName } from "../../../../shared/dynamodb/table-client.ts";
import { skipWaits } from "../../../support/cases/skipped-waits.ts";
import { runCommand, runJson } from "../../../support/commands/command.ts";
import { filePath, leadFile } from "../../../support/commands/lead-files.ts";
import { aLead, aMessage } from "../../../support/requests/requests.ts";
import { aroundCalls, beforeCall, lateReads, type TableCommand } from "../../../support/tables/conditions.ts";
import { copyTable, useTablesOfCommands } from "../../../support/tables/memory-tables.ts";
import { put, remove, tableItems } from "../../../support/tables/table-items.ts";

useTablesOfCommands();

/** What happens while a command waits for the writes of others to end, in place of the time. */
const waiting = { times: [] as number[], meanwhile: async () => {} };
skipWaits(async (time) => {
  // Others are of the rate.
  if (time < 10_000) return;
  waiting.times.push(time);
  await waiting.meanwhile();
});
beforeEach(() => Object.assign(waiting, { times: [], meanwhile: async () => {} }));

/** The commands that store an account's rows, from where, and what they call a row of its lead, or of what belongs to the lead. */
const kinds = {
  "leads import": {
    ...{ command: importCommand, ofLead: 1, stored: "imported" },
    async source(account: string) {
      const path = filePath(".csv");
      await runCommand(leadsCommand(), "export", "--account", account, "--output", path);
      return [path];
    },
  },
  "accounts copy": {
    ...{ command: accountsCommand, ofLead: 3, stored: "stored" },
    source: async () => ["copy", "--from-table", copyTable()],
  },
} as const;

async function erase(account: string, id: string): Promise<void> {
  await beginErasure(account, id, new Pace());
  await endErasure(account, id, new Pace());
}

describe.each(Object.entries(kinds))("%s", (_name, kind) => {
  /** An account with a lead, its conversation and its message, and with another lead; and from where it is stored. */
  async function saved() {
    const account = randomUUID();
    const { id } = await aLead(account, { name: "Ada", externalId: "crm-ada" });
    const { conversationId } = await aMessage(account, id);
    const other = await aLead(account, { name: "Grace" });
    const from = await kind.source(account);
    const items = [...(await tableItems()).values()].filter((item) => JSON.stringify(item).includes(id));
    return { account, id, conversationId, other: other.id, from, items };
  }

  const load = (account: string, from: readonly string[], ...options: string[]) =>
    runJson(kind.command(), ...from, "--account", account, ...options);

  /** The other lead is there, and of the erased one only the note of its erasure and the record of its row. */
  async function expectErased({ account, id, other }: Awaited<ReturnType<typeof saved>>) {
    const items = [...(await tableItems())].filter(([key]) => key.includes(account));
    const naming = items.filter((entry) => JSON.stringify(entry).includes(id));
    expect(naming.filter(([key]) => !key.startsWith("IMPORT#")).map(([key]) => key)).toEqual([
      `ERASED#${account} ${id}`,
    ]);
    expect(items.some(([key]) => key === `LEAD#${account} ${other}`)).toBe(true);
  }

  const isPut =
    (name: string) =>
    ({ input }: TableCommand) =>
      JSON.stringify(input.TransactItems ?? input.Item ?? "").includes(`"name":"${name}"`);

  test("stores nothing of an erased lead again, and deletes what a killed run stored and what requests that had found it write", async () => {
    const data = await saved();
    const { account, id, items, from } = data;
    await erase(account, id);
    {
      // The index lists none of it before the wait.
      using _ = lateReads();
      for (const item of items) await put(item);
      waiting.meanwhile = async () => {
        expect(await readItem(leadKey(account, id))).toBeUndefined();
        const [lock] = items.filter(({ pk }) => String(pk).startsWith("ACTIVE"));
        await put({ ...lock, ...activeConversationKey(account, id, "sms") });
      };
      const { output } = await load(account, from);
      expect(output).toMatchObject({ [kind.stored]: 0, present: 1, erased: kind.ofLead });
    }
    // Until all writes that had found a lead have ended, and the indexes list what was stored.
    expect(waiting.times).toEqual([32_000]);
    await expectErased(data);
    // It waits for no lead that its file does not name.
    await runCommand(importCommand(), await leadFile("name\nMary\n"), "--account", account);
    expect(waiting.times).toHaveLength(1);
  });

  test("deletes nothing in a dry run", async () => {
    const { account, id, items, from } = await saved();
    await erase(account, id);
    for (const item of items) await put(item);
    const before = await tableItems();
    expect((await load(account, from, "--dry-run")).failure).toBeUndefined();
    expect(await tableItems()).toEqual(before);
  });

  test("deletes what it stored of a lead that was erased meanwhile, also when it fails", async () => {
    const data = await saved();
    const { account, id, items, other, from } = data;
    for (const { pk, sk } of [...items, leadKey(account, other)]) await remove({ pk, sk });
    await put({ pk: `LIMIT#${account}`, sk: "requests", requests: 5 });
    {
      using _ = aroundCalls(async (command, send) => {
        if (!isPut("Grace")(command)) return send(command);
        await expect.poll(() => readItem(leadKey(account, id))).toBeDefined();
        await erase(account, id);
        const ofLead = [`LEAD#${account}`, `EXTERNAL#${account}`];
        for (const item of items) if (ofLead.includes(String(item.pk))) await put(item);
        throw Object.assign(new Error("No."), { name: "AccessDeniedException" });
      });
      expect((await load(account, from)).failure).toMatch(
        /^Stopped after 1 rows, new ones as import_\w+: AWS denied access: No\. Run the same command again to continue\.$/,
      );
    }
    expect(await readItem(leadKey(account, id))).toBeUndefined();
    expect((await load(account, from)).failure).toBeUndefined();
    await expectErased(data);
  });
});

test("accounts copy leaves nothing of a lead that is erased completely between a conversation and its messages", async () => {
  const [from, account] = [randomUUID(), randomUUID()];
  const { id } = await aLead(from);
  await aMessage(from, id);
  using _ = beforeCall(
    ({ input }) => String(input.Item?.pk).startsWith(`MESSAGE#${account}`),
    () => runCommand(eraseCommand(), "--account", account, "--lead", id, "--yes"),
  );
  const args = ["copy", "--account", from, "--from-table", tableName, "--to-account", account];
  expect((await runJson(accountsCommand(), ...args)).failure).toBeUndefined();
  const left = [...(await tableItems()).keys()].filter((key) => key.includes(account));
  expect(left).toEqual([`ERASED#${account} ${id}`]);
});

test("accounts copy under another name brings back no lead that was erased since the restored time", async () => {
  const [account, to] = [randomUUID(), randomUUID()];
  const { id } = await aLead(account);
  await aMessage(account, id);
  const other = await aLead(account);
  const from = copyTable();
  await runCommand(eraseCommand(), "--account", account, "--lead", id, "--yes");
  // The second copy finds what the first one has noted.
  for (const erased of [3, 3]) {
    const args = ["copy", "--account", account, "--from-table", from, "--to-account", to];
    expect((await runJson(accountsCommand(), ...args)).output).toMatchObject({ erased });
    const copied = [...(await tableItems()).keys()].filter((key) => key.includes(to));
    expect(copied.filter((key) => key.includes(id))).toEqual([`ERASED#${to} ${id}`]);
    expect(copied).toContain(`LEAD#${to} ${other.id}`);
  }
});

test("leads import stores no erased lead again that has no external id", async () => {
  const account = randomUUID();
  const { id } = await aLead(account);
  await aLead(account, { name: "Grace" });
  await erase(account, id);
  const file = await leadFile(`id,name\n${id},Ada\n`);
  const { output } = await runJson(importCommand(), file, "--account", account);
  expect(output).toMatchObject({ imported: 0, erased: 1 });
});
