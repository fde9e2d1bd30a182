import { spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { setTimeout } from "node:timers/promises";
import { isDeepStrictEqual } from "node:util";
import { expect, test } from "vitest";
import { verifyCommand } from "../../../../lib/ops/counts-verify-command.ts";
import { restoreCommand } from "../../../../lib/ops/restore-command.ts";
import { runJson } from "../../../support/command.ts";
import { copyTable } from "../../../support/copied-table.ts";
import { createDataDirectory } from "../../../support/ops.ts";
import { aLead, aMessage } from "../../../support/requests.ts";
import { tableItems } from "../../../support/table-items.ts";
import { expectConsistent, remove, restoredItems } from "./support/restored-items.ts";
import { aFilledAccount, ago, at, hour, junk, spoil } from "./support/spoiled-account.ts";

/** How many restores are killed, all at the same time. */
const kills = Number(process.env.RESTORE_KILLS ?? 2);

const program = join(import.meta.dirname, "../../../../bin/ops.ts");
const dataDirectory = await createDataDirectory();
const noWait = async () => {};

/** An account with more data than those of other tests: commands are killed while they write, wait and count. */
async function aTrial() {
  const data = await aFilledAccount();
  await ago(hour, async () => {
    for (let i = 0; i < 6; i++) {
      const { id } = await aLead(data.account);
      for (const channel of ["whatsapp", "email"]) await aMessage(data.account, id, channel);
    }
  });
  return data;
}

/** Spoils nearly all of it. */
async function spoilAll(data: Awaited<ReturnType<typeof aTrial>>) {
  for (const item of Object.values(restoredItems(await tableItems(), data.account)))
    if (Math.random() < 0.6 && !JSON.stringify(item).includes(data.grace.id)) await remove(item as never);
  await spoil(data);
  for (let i = 0; i < 4; i++) await junk(data.account, hour);
  // Stays.
  await aMessage(data.account, data.grace.id, "sms");
}

/** Starts the command, and kills it after it has changed some items, unless it has ended. @returns whether it was killed */
async function runKilled(
  args: readonly string[],
  { items, countChanges }: { readonly items: number; readonly countChanges: () => Promise<number> },
): Promise<boolean> {
  const env = { ...process.env, DATA_DIR: dataDirectory };
  const child = spawn(process.execPath, [program, "restore", ...args, "--local"], { env, stdio: "ignore" });
  const ended = once(child, "exit");
  while (child.exitCode === null && (await countChanges()) < items) await setTimeout(20);
  child.kill("SIGKILL");
  return (await ended)[1] === "SIGKILL";
}

/** How many items were created, replaced or deleted. */
const countDifferences = (before: Items, after: Items) =>
  Object.keys({ ...before, ...after }).filter((key) => !isDeepStrictEqual(before[key], after[key])).length;

type Items = ReturnType<typeof restoredItems>;

test(`restores that are killed ${kills} times at random moments end in the same state when they run again`, async () => {
  const trials = [];
  for (let i = 0; i < kills; i++) trials.push(await aTrial());
  const from = await copyTable();
  const copied = await tableItems();
  for (const trial of trials) await spoilAll(trial);
  const spoiled = await tableItems();
  const restoreArgs = ({ account }: { account: string }) => [
    ...["--account", account, "--from-table", from, "--at", at, "--yes"],
  ];
  let [killed, underway] = [0, 0];
  await Promise.all(
    trials.map(async (trial) => {
      const args = [...restoreArgs(trial), "--units", "30"];
      const before = restoredItems(spoiled, trial.account);
      const items = 1 + Math.floor(Math.random() * 20);
      const countChanges = async () =>
        countDifferences(before, restoredItems(await tableItems(), trial.account));
      if (await runKilled(args, { items, countChanges })) killed++;
    }),
  );
  for (const trial of trials) {
    const now = restoredItems(await tableItems(), trial.account);
    const { failure } = await runJson(restoreCommand(noWait), ...restoreArgs(trial));
    expect(failure).toBeUndefined();
    const { items } = await expectConsistent(trial.account);
    const ends = [restoredItems(spoiled, trial.account), items];
    if (!ends.some((end) => isDeepStrictEqual(now, end))) underway++;
    const sms = Object.entries(items).filter(([, { channel, sk }]) => channel === "sms" || sk === "sms");
    expect(sms).toHaveLength(3);
    expect(items).toEqual({ ...restoredItems(copied, trial.account), ...Object.fromEntries(sms) });
    expect(await runJson(verifyCommand(noWait), "--account", trial.account)).toEqual({ output: [] });
  }
  console.log(`${killed} of ${kills} restores were killed before they ended, ${underway} of them halfway.`);
  expect(killed).toBeGreaterThan(0);
  expect(underway).toBeGreaterThan(0);
}, 240_000);
