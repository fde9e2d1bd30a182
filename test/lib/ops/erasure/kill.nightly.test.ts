import { spawn } from "node:child_process";
import { randomUUID } from "node:crypto";
import { once } from "node:events";
import { join } from "node:path";
import { setTimeout } from "node:timers/promises";
import { expect, test } from "vitest";
import { countNodeKey, erasedLeadKey } from "../../../../shared/dynamodb/keys.ts";
import type { Item, Key } from "../../../../shared/dynamodb/table-client.ts";
import { countedLists } from "../../../../shared/pages/tree/counted-list.ts";
import { call } from "../../../support/call.ts";
import { createDataDirectory, ops } from "../../../support/ops.ts";
import { aLead, aMessage } from "../../../support/requests.ts";
import { tableItems } from "../../../support/table-items.ts";

/** How many erasures are killed, all at the same time; every third is that of an account. */
const kills = Number(process.env.ERASE_KILLS ?? 3);

const program = join(import.meta.dirname, "../../../../bin/ops.ts");
const dataDirectory = await createDataDirectory();
const email = "ada@example.com";

/** An account with a lead to erase, and with another one. */
interface Trial {
  readonly account: string;
  readonly args: readonly string[];
  readonly isAccount: boolean;
  readonly leadId: string;
}

/** Each lead has so many items, and the command reads so slowly, that half of its time is spent deleting. */
async function aTrial(_: unknown, index: number): Promise<Trial> {
  const account = randomUUID();
  const headers = { "idempotency-key": randomUUID() };
  const { body: lead } = await call("create-lead", { account, body: { name: "Ada", email }, headers });
  const other = await aLead(account, { name: "Grace" });
  for (let channel = 0; channel < 8; channel++)
    for (let i = 0; i < 4; i++) await aMessage(account, lead.id, `channel ${channel}`);
  await aMessage(account, other.id);
  const isAccount = index % 3 === 2;
  const person = index % 2 === 0 ? ["--lead", lead.id] : ["--email", email];
  const command = isAccount ? ["accounts", "erase"] : ["leads", "erase", ...person];
  const args = [...command, "--yes", "--account", account, "--units", "60", "--local"];
  return { account, args, isAccount, leadId: lead.id };
}

const name = ({ pk, sk }: Key) => `${pk} ${sk}`;

/** Starts the command, and kills it after a time in milliseconds, unless it has ended. @returns whether it was killed */
async function runKilled({ args }: Trial, time: number): Promise<boolean> {
  const env = { ...process.env, DATA_DIR: dataDirectory };
  const child = spawn(process.execPath, [program, ...args], { env, stdio: "ignore" });
  const ended = once(child, "exit");
  await Promise.race([setTimeout(time), ended]);
  child.kill("SIGKILL");
  return (await ended)[1] === "SIGKILL";
}

/** The items that name a text, by their keys. */
const naming = (items: ReadonlyMap<string, Item>, text: string) =>
  [...items].filter(([key, item]) => `${key} ${JSON.stringify(item)}`.includes(text));

test(`erasures that are killed ${kills} times at random moments end in the same state when they run again`, async () => {
  const trials = await Promise.all(Array.from({ length: kills }, aTrial));
  const before = await tableItems();
  let killed = 0;
  await Promise.all(
    trials.map(async (trial, index) => {
      // Each in its part of the time that an erasure takes.
      if (await runKilled(trial, 500 + ((index + Math.random()) / kills) * 17_500)) killed++;
      const { code, stderr } = await ops(trial.args, { dataDirectory });
      // One that had ended before it was killed is no longer found by its address.
      if (!/no lead with this email address/.test(stderr))
        expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
    }),
  );
  const after = await tableItems();
  const expected = new Map(before);
  for (const { account, isAccount, leadId } of trials) {
    const conversations = naming(before, leadId).map(([, { conversationId }]) => String(conversationId));
    for (const text of isAccount ? [account] : [leadId, ...conversations])
      for (const [key] of naming(before, text)) if (text !== "undefined") expected.delete(key);
    const left = erasedLeadKey(account, leadId);
    if (!isAccount) expected.set(name(left), { ...left, leadId, id: expect.stringMatching(/^erasure_/) });
    else
      for (const { type } of Object.values(countedLists))
        expected.set(
          name(countNodeKey(type, account, "root")),
          expect.objectContaining({ expiresAt: expect.any(Number) }),
        );
  }
  expect(Object.fromEntries(after)).toEqual(Object.fromEntries(expected));
  // The other lead of each account, with its message, conversation and pointer, or the empty roots of the erased one.
  expect(after.size).toBe(trials.reduce((sum, { isAccount }) => sum + (isAccount ? 2 : 5), 0));
  console.log(`${killed} of ${kills} erasures were killed before they ended.`);
  expect(killed).toBeGreaterThan(0);
});
