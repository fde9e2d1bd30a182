import { setTimeout } from "node:timers/promises";
import { projectStages, readSettings } from "../../lib/config/read-stage-file.ts";
import type { Settings } from "../../lib/config/settings.ts";
import { readLocalRun } from "../../lib/ops/command/local-run-file.ts";
import { UserError } from "../../lib/user-error.ts";
import { Account, leads } from "../contract/account.ts";
import { Client } from "../contract/client.ts";
import { type AwsStage, openAwsStage } from "./aws-stage.ts";
import { openAccounts } from "./own-accounts.ts";

/** The target of the run: either `stage` or `local`. */
export interface Target {
  readonly stage?: string;
  readonly local?: boolean;
  /** Whether a stage that keeps its data may be used. */
  readonly yes?: boolean;
}

/** What controls a run. */
interface Control {
  readonly signal: AbortSignal;
  note(text: string): void;
  /** How many leads the phase `counting` creates, and the most requests or rounds of the other phases. */
  readonly load?: number;
}

/** The rate limit of the account that sends most requests, in requests of a window. */
const highLimit = 100_000;

/**
 * Opens the stage, and creates accounts with keys. The `cleanUp` of the result erases them.
 *
 * @throws UserError if the stage cannot be used as it is
 */
export async function open(target: Target, { signal, note, load = 1000 }: Control) {
  const startedAt = Date.now();
  await using opening = new AsyncDisposableStack();
  const settings = readSettings(projectStages, target.stage ?? "dev");
  const aws = await openStage(target, settings);
  const accounts = await openAccounts(target);
  const url = aws?.output("ApiUrl") ?? (await readLocalRun()).url;
  await reach(url);
  opening.defer(() => accounts.erase());
  const { apiKey: key } = await accounts.issueKey(accounts.mine);
  await accounts.setLimit(accounts.mine, highLimit);
  return {
    ...{ name: target.stage ?? "local", url, aws, settings, signal, note, load, startedAt },
    /** The accounts that only this run uses, the key of the first, and the client with it. */
    ...{ accounts, key, mine: new Account(url, key, signal) },
    /** Waits for a time in milliseconds. @throws AbortError after Ctrl-C */
    wait: (milliseconds: number): Promise<unknown> => setTimeout(milliseconds, undefined, { signal }),
    /** Reverts the changes of the checks when the run ends, the last change first. */
    cleanUp: opening.move(),
  };
}

async function openStage(target: Target, settings: Settings): Promise<AwsStage | undefined> {
  if (target.stage === undefined) return undefined;
  const stage = await openAwsStage(target.stage);
  if (target.yes || !(stage.isProtected || settings.removalPolicy === "retain")) return stage;
  throw new UserError(
    `The stage ${target.stage} keeps its data. A run writes leads of its own, and erases them: pass --yes to do so there.`,
  );
}

/** @throws UserError if the address does not respond as the API does without a key */
async function reach(url: string): Promise<void> {
  const { status } = await new Client(url).sendOnce({ path: leads }).catch((error: unknown) => {
    throw new UserError(`The API at ${url} does not respond: ${error}.`);
  });
  if (status !== 401) throw new UserError(`The API at ${url} returns ${status} without a key, not 401.`);
}
