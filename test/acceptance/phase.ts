import type { Settings } from "../../lib/config/settings.ts";
import type { Account } from "../contract/account.ts";
import type { AwsStage } from "./aws-stage.ts";
import type { Finding } from "./finding.ts";
import type { OwnAccounts } from "./own-accounts.ts";

/** The target of a run, and what its checks use. */
export interface Acceptance {
  /** The stage's name, or `local`. */
  readonly name: string;
  readonly url: string;
  /** The key of an account that only this run uses, and the client with it. */
  readonly key: string;
  readonly mine: Account;
  readonly accounts: OwnAccounts;
  /** The settings of the stage's file, or of the stage that `--like` names. */
  readonly settings: Settings;
  /** Undefined for the local run. */
  readonly aws: AwsStage | undefined;
  readonly signal: AbortSignal;
  /** How many leads the phase `counting` creates, and the most requests or rounds of the other phases. */
  readonly load: number;
  /** Whether the phase `gateway` saw the throttle refuse requests. */
  wasThrottled?: boolean;
  /** Reverts the changes of the checks when the run ends, the last change first. */
  readonly cleanUp: AsyncDisposableStack;
  /** Prints which phase begins. */
  note(text: string): void;
  /** When the run started, in milliseconds since the epoch. */
  readonly startedAt: number;
  /** Waits for a time in milliseconds. @throws AbortError after Ctrl-C */
  wait(milliseconds: number): Promise<unknown>;
}

/** A part of the run. */
export interface Phase {
  readonly name: string;
  /** Whether it needs AWS, which the local run does not have. */
  readonly needs?: "aws";
  /** @param aws the stage, for a phase that needs it */
  run(acceptance: Acceptance, aws: AwsStage): AsyncIterable<Finding>;
}

/** Repeats a look until it returns a value. Times are in milliseconds. @returns undefined when the time is up */
export async function poll<T>(
  { wait }: Acceptance,
  { every, atMost }: { readonly every: number; readonly atMost: number },
  look: () => Promise<T | undefined>,
): Promise<T | undefined> {
  for (const end = Date.now() + atMost; ; ) {
    const value = await look();
    if (value !== undefined || Date.now() >= end) return value;
    await wait(every);
  }
}

/** Waits for all promises, even if one is rejected. @throws the reason of the first rejected promise */
export async function settle(all: readonly Promise<unknown>[]): Promise<void> {
  const results = await Promise.allSettled(all);
  for (const result of results) if (result.status === "rejected") throw result.reason;
}
