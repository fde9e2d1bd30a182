import { UpdateCommand } from "@aws-sdk/lib-dynamodb";
import type { Command } from "commander";
import { releaseKey } from "../../../shared/dynamodb/keys.ts";
import { table, tableName } from "../../../shared/dynamodb/table-client.ts";
import { readStoredRelease } from "../common/data-format.ts";
import {
  allAccountsCommand,
  selectTableByOptions,
  type TableOptions,
  withDryRun,
} from "../common/options.ts";

/** A step on stored data, which can be ended and run again. */
export interface UpgradeStep {
  /** By which the table knows that it is done: it never changes. */
  readonly name: string;
  readonly description: string;
  readonly run: () => Promise<void>;
}

/** The steps that this release needs, in their order. */
const upgradeSteps: readonly UpgradeStep[] = [];

/** `upgrade`: does the steps on stored data that are not done yet. */
export const upgradeCommand = (steps = upgradeSteps): Command =>
  withDryRun(allAccountsCommand("upgrade", "do the steps on stored data that this release needs")).action(
    (options: TableOptions) => upgrade(options, steps),
  );

async function upgrade(options: TableOptions, steps: readonly UpgradeStep[]): Promise<void> {
  await selectTableByOptions(options);
  const { json, dryRun } = options;
  const { upgrades } = await readStoredRelease();
  const missing = steps.filter(({ name }) => !upgrades.has(name));
  for (const { name, description, run } of missing) {
    if (!json) console.log(`${name}: ${description}`);
    if (dryRun) continue;
    await run();
    await recordUpgrade(name);
  }
  const count = `${missing.length} steps ${dryRun ? "would be" : "are"} done.`;
  console.log(json ? JSON.stringify(missing.map(({ name }) => name)) : count);
}

async function recordUpgrade(name: string): Promise<void> {
  const ExpressionAttributeValues = { ":name": new Set([name]) };
  const update = { TableName: tableName, Key: releaseKey, UpdateExpression: "ADD upgrades :name" };
  await table.send(new UpdateCommand({ ...update, ExpressionAttributeValues }));
}
