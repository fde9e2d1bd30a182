import type { AwsStage } from "./aws-stage.ts";
import type { Finding } from "./finding.ts";
import type { open } from "./open.ts";

/** The target of a run, and what its checks use. */
export type Acceptance = Awaited<ReturnType<typeof open>>;

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
