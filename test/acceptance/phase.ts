import { setTimeout } from "node:timers/promises";
import type { Settings } from "../../lib/config/settings.ts";
import type { Account } from "../contract/account.ts";
import type { AwsStage } from "./aws-stage.ts";
import type { Finding } from "./finding.ts";
import type { OwnAccounts } from "./own-accounts.ts";

/** What is accepted, and what its checks are made with. */
export interface Acceptance {
  /** The stage's name, or `local`. */
  readonly name: string;
  readonly url: string;
  /** Keys of two accounts that nothing else uses. */
  readonly keys: { readonly mine: string; readonly other: string };
  /** Clients with these keys. */
  readonly mine: Account;
  readonly accounts: OwnAccounts;
  /** The settings of the stage's file, or of the stage that it is like. */
  readonly settings: Settings;
  /** Undefined for the local run. */
  readonly aws?: AwsStage;
  readonly signal: AbortSignal;
  /** How many leads are created in a row, and the most requests of a kind and rounds of other phases. */
  readonly load: number;
  /** Whether the phase `gateway` saw the throttle refuse requests. */
  wasThrottled?: boolean;
  /** Takes back what a check changed, when the run ends, the last one first. */
  readonly cleanUp: AsyncDisposableStack;
  /** Says which phase begins. */
  note(text: string): void;
  /** When the run started, in milliseconds since the epoch. */
  readonly startedAt: number;
  /** The time, in milliseconds since the epoch. */
  now(): number;
  /** Waits for a time in milliseconds. @throws AbortError after Ctrl-C */
  wait(milliseconds: number): Promise<unknown>;
}

/** A part of the run. */
export interface Phase {
  readonly name: string;
  /** Whether it needs AWS, which the local run does not have. */
  readonly needs?: "aws";
  run(acceptance: Acceptance): AsyncIterable<Finding>;
}

/** How `wait` is made of a signal. */
export const abortable = (signal: AbortSignal) => (milliseconds: number) =>
  setTimeout(milliseconds, undefined, { signal });

/** Repeats something until it returns a value. @returns undefined when the time is up, in milliseconds */
export async function poll<T>(
  { wait, now }: Pick<Acceptance, "wait" | "now">,
  { every, atMost }: { readonly every: number; readonly atMost: number },
  look: () => Promise<T | undefined>,
): Promise<T | undefined> {
  for (const end = now() + atMost; ; ) {
    const value = await look();
    if (value !== undefined || now() >= end) return value;
    await wait(every);
  }
}

/** Waits for all, also if one fails. @throws the reason of the first that failed */
export async function settle(all: readonly Promise<unknown>[]): Promise<void> {
  const results = await Promise.allSettled(all);
  for (const result of results) if (result.status === "rejected") throw result.reason;
}
