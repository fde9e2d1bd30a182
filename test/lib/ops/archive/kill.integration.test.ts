import { spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { setTimeout } from "node:timers/promises";
import { isDeepStrictEqual } from "node:util";
import { expect, test } from "vitest";
import { verifyCommand } from "../../../../lib/ops/counts/counts-verify-command.ts";
import { maintainList } from "../../../../shared/pages/maintain/maintain-list.ts";
import { countedLists } from "../../../../shared/pages/tree/counted-list.ts";
import { runJson } from "../../../support/command.ts";
import { copyTable } from "../../../support/copied-table.ts";
import { createDataDirectory } from "../../../support/ops.ts";
import { aLead, aMessage } from "../../../support/requests.ts";
import { tableItems } from "../../../support/table-items.ts";
import { exported, replace } from "./support/restore.ts";
import { expectConsistent, remove, restoredItems } from "./support/restored-items.ts";
import { aFilledAccount, ago, hour, spoil } from "./support/spoiled-account.ts";

/** How many imports are killed, all at the same time. */
const kills = Number(process.env.IMPORT_KILLS ?? 2);

const program = join(import.meta.dirname, "../../../../bin/ops.ts");
const dataDirectory = await createDataDirectory();

/** An account with more data than those of other tests. */
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

/** Spoils nearly all of it, and sends a message. */
async function spoilAll(data: Awaited<ReturnType<typeof aTrial>>) {
  for (const item of Object.values(restoredItems(await tableItems(), data.account)))
    if (Math.random() < 0.6 && !JSON.stringify(item).includes(data.grace.id)) await remove(item as never);
  await spoil(data);
  await aMessage(data.account, data.grace.id, "sms");
}

type Items = ReturnType<typeof restoredItems>;

/** How many items were created or replaced. */
const countDifferences = (before: Items, after: Items) =>
  Object.keys({ ...before, ...after }).filter((key) => !isDeepStrictEqual(before[key], after[key])).length;

/** Starts an import, and kills it after it has changed some items, unless it has ended. @returns whether it was killed */
async function runKilled(account: string, path: string): Promise<boolean> {
  const before = restoredItems(await tableItems(), account);
  const items = 1 + Math.floor(Math.random() * 15);
  const options = ["--account", account, "--replace", "--yes", "--rate", "50", "--local"];
  const child = spawn(process.execPath, [program, "accounts", "import", path, ...options], {
    env: { ...process.env, DATA_DIR: dataDirectory },
    stdio: "ignore",
  });
  const ended = once(child, "exit");
  const countChanges = async () => countDifferences(before, restoredItems(await tableItems(), account));
  while (child.exitCode === null && (await countChanges()) < items) await setTimeout(20);
  child.kill("SIGKILL");
  return (await ended)[1] === "SIGKILL";
}

test(`imports that are killed ${kills} times at random moments bring all back when they run again`, async () => {
  const trials: Awaited<ReturnType<typeof aTrial>>[] = [];
  for (let i = 0; i < kills; i++) trials.push(await aTrial());
  const from = await copyTable();
  const copied = await tableItems();
  for (const trial of trials) await spoilAll(trial);
  const paths: string[] = [];
  for (const { account } of trials) paths.push(await exported(account, from));
  const killed = await Promise.all(trials.map(({ account }, i) => runKilled(account, paths[i] ?? "")));
  let underway = 0;
  for (const [i, { account }] of trials.entries()) {
    const now = restoredItems(await tableItems(), account);
    const { failure } = await replace(account, paths[i] ?? "");
    expect(failure).toBeUndefined();
    const { items } = await expectConsistent(account);
    if (countDifferences(now, items) > 0) underway++;
    for (const [key, item] of Object.entries(restoredItems(copied, account))) {
      const { imported, ...restored } = items[key] ?? {};
      expect(restored).toEqual(item);
    }
    const sent = Object.values(items).filter(({ channel, sk }) => channel === "sms" || sk === "sms");
    expect(sent).toHaveLength(3);
    // No maintainer runs.
    for (const list of Object.values(countedLists))
      await maintainList({ account, list }, [], { deadline: Date.now() + 10_000 });
    expect(
      await runJson(
        verifyCommand(async () => {}),
        "--account",
        account,
      ),
    ).toEqual({ output: [] });
  }
  console.log(
    `${killed.filter(Boolean).length} of ${kills} imports were killed, ${underway} of them halfway.`,
  );
  expect(killed).toContain(true);
  expect(underway).toBeGreaterThan(0);
}, 240_000);
