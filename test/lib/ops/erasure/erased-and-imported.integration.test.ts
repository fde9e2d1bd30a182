import { randomUUID } from "node:crypto";
import { PutCommand } from "@aws-sdk/lib-dynamodb";
import { describe, expect, test } from "vitest";
import { accountsCommand } from "../../../../lib/ops/accounts/accounts-command.ts";
import { beginErasure, endErasure } from "../../../../lib/ops/erasure/erased-leads.ts";
import { eraseCommand } from "../../../../lib/ops/erasure/leads-erase.ts";
import { leadsCommand } from "../../../../lib/ops/leads/leads-command.ts";
import { importCommand } from "../../../../lib/ops/leads/leads-import.ts";
import { activeConversationKey, leadKey } from "../../../../shared/dynamodb/keys.ts";
import { Pace, type Wait } from "../../../../shared/dynamodb/pace.ts";
import { readItem } from "../../../../shared/dynamodb/table-client.ts";
import { runCommand, runJson } from "../../../support/command.ts";
import { aroundCalls, beforeCall, lateReads, type TableCommand } from "../../../support/conditions.ts";
import { filePath, leadFile } from "../../../support/lead-files.ts";
import { aLead, aMessage } from "../../../support/requests.ts";
import { put, remove, tableItems } from "../../../support/table-items.ts";

/** The commands that import an account, and what they call a row of its lead, or of what belongs to the lead. */
const kinds = {
  "leads import": { export: leadsCommand, import: importCommand, args: [], ofLead: 1, others: 1 },
  "accounts import": {
    ...{ export: accountsCommand, import: accountsCommand, args: ["import"], ofLead: 3, others: 1 },
  },
} as const;

async function erase(account: string, id: string): Promise<void> {
  await beginErasure(account, id, new Pace());
  await endErasure(account, id, new Pace());
}

describe.each(Object.entries(kinds))("%s", (_name, kind) => {
  /** An account with a lead, its conversation and its message, and with another lead; and its file. */
  async function exported() {
    const account = randomUUID();
    const { id } = await aLead(account, { name: "Ada" });
    const { conversationId } = await aMessage(account, id);
    const other = await aLead(account, { name: "Grace" });
    const path = filePath(".jsonl");
    await runCommand(kind.export(), "export", "--account", account, "--output", path);
    const items = [...(await tableItems()).values()].filter((item) => JSON.stringify(item).includes(id));
    return { account, id, conversationId, other: other.id, path, items };
  }

  const load = (account: string, path: string, wait: Wait = async () => {}, ...options: string[]) =>
    runJson(kind.import(wait), ...kind.args, path, "--account", account, ...options);

  /** The other lead is there, and of the erased one only the note of its erasure. */
  async function expectErased({ account, id, other }: Awaited<ReturnType<typeof exported>>) {
    const items = [...(await tableItems())].filter(([key]) => key.includes(account));
    const naming = items.filter((entry) => JSON.stringify(entry).includes(id));
    expect(naming.map(([key]) => key)).toEqual([`ERASED#${account} ${id}`]);
    expect(items.some(([key]) => key === `LEAD#${account} ${other}`)).toBe(true);
  }

  const isPut = (name: string) => (command: TableCommand) =>
    command instanceof PutCommand && command.input.Item?.name === name;

  test("stores nothing of an erased lead again, and waits for no lead that its file does not name", async () => {
    const file = await exported();
    const { account, id, items, path } = file;
    await erase(account, id);
    for (const { pk, sk } of items) if (String(pk) !== `LEAD#${account}`) await remove({ pk, sk });
    const waits: number[] = [];
    const { output } = await load(account, path, async (time) => void waits.push(time));
    expect(output).toMatchObject({ imported: 0, present: kind.others, erased: kind.ofLead });
    expect(waits).toEqual([32_000]);
    await expectErased(file);
    const unrelated = importCommand(async (time) => void waits.push(time));
    await runCommand(unrelated, await leadFile("name\nMary\n"), "--account", account);
    expect(waits).toHaveLength(1);
  });

  test("deletes what a killed run stored after the erasure, and what requests that had found it write", async () => {
    const file = await exported();
    const { account, id, items, path } = file;
    await erase(account, id);
    const waits: number[] = [];
    {
      // The index lists none of it before the wait.
      using _ = lateReads();
      for (const item of items) await put(item);
      const { output } = await load(account, path, async (time) => {
        waits.push(time);
        expect(await readItem(leadKey(account, id))).toBeUndefined();
        const [pointer] = items.filter(({ pk }) => String(pk).startsWith("ACTIVE"));
        await put({ ...pointer, ...activeConversationKey(account, id, "sms") });
      });
      expect(output).toMatchObject({ imported: 0, erased: kind.ofLead });
    }
    // Until all writes that had found a lead have ended, and the indexes list what was stored.
    expect(waits).toEqual([32_000]);
    await expectErased(file);
  });

  test("deletes nothing in a dry run", async () => {
    const { account, id, items, path } = await exported();
    await erase(account, id);
    for (const item of items) await put(item);
    const before = await tableItems();
    expect((await load(account, path, undefined, "--dry-run")).failure).toBeUndefined();
    expect(await tableItems()).toEqual(before);
  });

  test("deletes a lead that is erased while its file is imported, also if it stored it before", async () => {
    const file = await exported();
    const { account, id, items, other, path } = file;
    for (const { pk, sk } of [...items, leadKey(account, other)]) await remove({ pk, sk });
    await put({ pk: `LIMIT#${account}`, sk: "requests", requests: 5 });
    using _ = beforeCall(isPut("Ada"), () => erase(account, id));
    expect((await load(account, path)).failure).toBeUndefined();
    await expectErased(file);
  });

  test("deletes what it stored of a lead that was erased meanwhile, also when it fails", async () => {
    const file = await exported();
    const { account, id, items, other, path } = file;
    for (const { pk, sk } of [...items, leadKey(account, other)]) await remove({ pk, sk });
    await put({ pk: `LIMIT#${account}`, sk: "requests", requests: 5 });
    {
      using _ = aroundCalls(async (command, send) => {
        if (!isPut("Grace")(command)) return send(command);
        await expect.poll(() => readItem(leadKey(account, id))).toBeDefined();
        await erase(account, id);
        await put(items.find(({ pk }) => pk === `LEAD#${account}`) ?? {});
        throw Object.assign(new Error("No."), { name: "AccessDeniedException" });
      });
      expect((await load(account, path)).failure).toBe(
        "Stopped after 1 rows: AWS denied access: No. Run the same command again to continue.",
      );
    }
    expect(await readItem(leadKey(account, id))).toBeUndefined();
    expect((await load(account, path)).failure).toBeUndefined();
    await expectErased(file);
  });
});

test("accounts import leaves nothing of a lead that is erased completely between a conversation and its messages", async () => {
  const [from, account] = [randomUUID(), randomUUID()];
  const { id } = await aLead(from);
  await aMessage(from, id);
  const path = filePath(".jsonl");
  await runCommand(accountsCommand(), "export", "--account", from, "--output", path);
  const erasing = eraseCommand(async () => {});
  using _ = beforeCall(
    ({ input }) => String(input.Item?.pk).startsWith("MESSAGE"),
    () => runCommand(erasing, "--account", account, "--lead", id, "--yes"),
  );
  const noWait = accountsCommand(async () => {});
  expect((await runJson(noWait, "import", path, "--account", account, "--rename")).failure).toBeUndefined();
  const left = [...(await tableItems()).keys()].filter((key) => key.includes(account));
  expect(left).toEqual([`ERASED#${account} ${id}`]);
});
