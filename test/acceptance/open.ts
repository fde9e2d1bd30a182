import { readProjectStage } from "../../lib/config/stage-settings.ts";
import { UserError } from "../../lib/errors.ts";
import { readLocalRun } from "../../lib/ops/common/local-run-file.ts";
import { findCacheSeconds } from "../../lib/ops/erasure/accounts-erase.ts";
import type { Wait } from "../../shared/dynamodb/pace.ts";
import { Account, leads } from "../contract/account.ts";
import { Client } from "../contract/client.ts";
import { AwsStage } from "./aws-stage.ts";
import { OwnAccounts } from "./own-accounts.ts";
import { type Acceptance, abortable } from "./phase.ts";
import { removeSubscriptions } from "./phases/events.ts";
import { resetVariables } from "./phases/times.ts";

/** What is accepted: exactly one of `stage`, `local` and `url`. */
export interface Target {
  readonly stage?: string;
  readonly local?: boolean;
  readonly url?: string;
  /** Keys of two accounts, for an address alone. */
  readonly key?: string;
  readonly otherKey?: string;
  readonly quick?: boolean;
  /** Whether a stage that keeps its data is used, too. */
  readonly yes?: boolean;
}

/** What a run is controlled by. */
export interface Control {
  readonly signal: AbortSignal;
  note(text: string): void;
  /** By default real time, until the signal. */
  readonly now?: () => number;
  readonly wait?: Wait;
  /** How long to wait for revoked keys and for writes, when accounts are erased; by default in real time. */
  readonly eraseWait?: Wait;
  /** How many leads are created in a row. */
  readonly load?: number;
}

/** The rate limit of the account that most requests are made with, in requests of a window. */
const highLimit = 100_000;

/**
 * Opens the stage, and makes accounts with keys, which are erased by the `cleanUp` of the result.
 *
 * @throws UserError if it cannot be used as it is
 */
export async function open(target: Target, control: Control): Promise<Acceptance> {
  const { signal, note, now = Date.now, wait = abortable(signal), load = 1000 } = control;
  const base = { signal, note, startedAt: Date.now(), now, wait, load };
  await using opening = new AsyncDisposableStack();
  if (target.url !== undefined) {
    const { url, key, otherKey } = target;
    if (!key || !otherKey)
      throw new UserError("--url needs two API keys of different accounts: --key and --other-key.");
    await reach(url);
    const mine = await connect(url, key, "--key");
    await connect(url, otherKey, "--other-key");
    const keys = { mine: key, other: otherKey };
    return {
      ...base,
      name: new URL(url).host,
      url,
      keys,
      mine,
      isProduction: false,
      cleanUp: opening.move(),
    };
  }
  const stage = await openStage(target);
  const { accounts, url } = await openAccounts(target, stage?.outputs.ApiUrl, control);
  await reach(url);
  opening.defer(() => (target.quick ? accounts.eraseListed() : accounts.erase()));
  await accounts.setLimit(accounts.mine, highLimit);
  const keys = {
    mine: (await accounts.issueKey(accounts.mine)).apiKey,
    other: (await accounts.issueKey(accounts.other)).apiKey,
  };
  const mine = await connect(url, keys.mine, "The key of its own");
  return {
    ...base,
    ...{ name: target.stage ?? "local", url, keys, mine, accounts },
    ...(stage && { aws: stage }),
    settings: readProjectStage(target.stage ?? "dev"),
    isProduction: isProduction(target, stage),
    cleanUp: opening.move(),
  };
}

/** Takes away what runs that were killed have left. @returns how many accounts that was */
export async function clean(target: Target, control: Control): Promise<number> {
  const stage = await openStage(target);
  if (stage) {
    await removeSubscriptions(stage);
    await resetVariables(stage);
  }
  const { accounts } = await openAccounts(target, stage?.outputs.ApiUrl, control);
  return accounts.eraseEveryRun();
}

async function openStage(target: Target): Promise<AwsStage | undefined> {
  if (target.stage === undefined) return undefined;
  const stage = await AwsStage.open(target.stage);
  if (target.yes || !isProduction(target, stage)) return stage;
  throw new UserError(
    `The stage ${target.stage} keeps its data. A run writes leads of its own, erases them, and raises each alarm: pass --yes to do so there.`,
  );
}

/** Whether a stage is protected, or keeps its data by its file. */
const isProduction = ({ stage }: Target, aws: AwsStage | undefined) =>
  aws !== undefined && (aws.isProtected || readProjectStage(stage ?? "")?.removalPolicy === "retain");

async function openAccounts({ stage, local }: Target, apiUrl: string | undefined, control: Control) {
  const table = { ...(stage !== undefined && { stage }), ...(local && { local }) };
  const cacheSeconds = await findCacheSeconds(table);
  const accounts = await OwnAccounts.open({ table, cacheSeconds, wait: control.eraseWait });
  return { accounts, url: apiUrl ?? (await readLocalRun()).url };
}

/** @throws UserError if the address does not respond as the API does without a key */
async function reach(url: string): Promise<void> {
  const { status } = await new Client(url).sendOnce({ path: leads }).catch((error: unknown) => {
    throw new UserError(`The API at ${url} does not respond: ${error}.`);
  });
  if (status !== 401) throw new UserError(`The API at ${url} returns ${status} without a key, not 401.`);
}

/** @throws UserError if the API refuses the key */
async function connect(url: string, key: string, name: string): Promise<Account> {
  const account = new Account(url, key);
  const { status } = await account.sendOnce({ path: `${leads}?limit=1` });
  if (status !== 200) throw new UserError(`${name} gets ${status} from the API at ${url}, not 200.`);
  return account;
}
