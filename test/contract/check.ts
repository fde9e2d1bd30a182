import type { Account } from "./account.ts";
import type { Client } from "./client.ts";
import { Failure } from "./expectations.ts";

/** The accounts and clients that the checks use. */
export interface Context {
  /** The account that has most of the records. */
  readonly mine: Account;
  readonly other: Account;
  /** Without a key. */
  readonly anonymous: Client;
  /** The key of `mine`. */
  readonly key: string;
  /** With a key of the first account that may only read. */
  readonly readOnly?: Account | undefined;
  /** With a key of the first account that may only create leads. */
  readonly creating?: Account | undefined;
  /** With a key of a third account, which has a low rate limit. */
  readonly limited?: Client | undefined;
  /** Records that many checks read, by the function that made them. */
  readonly shared: Map<unknown, Promise<unknown>>;
}

/** A promise of the documentation, and how it is checked from outside. */
export interface Check {
  readonly promise: string;
  /** The page and its heading, such as `docs/usage.md#pages`; in the OpenAPI document, a JSON pointer. */
  readonly page: string;
  /** @throws Failure, or Skipped if it cannot be checked */
  run(context: Context): Promise<void>;
}

export interface Result extends Pick<Check, "promise" | "page"> {
  readonly outcome: "ok" | "FAILED" | "skipped";
  /** What was expected and seen, or why the check was skipped. */
  readonly reason?: string;
}

/** Thrown by a check that cannot be made. */
export class Skipped extends Error {}

/** The checks of a page's promises. */
export const promises = (page: string, runs: Readonly<Record<string, Check["run"]>>): readonly Check[] =>
  Object.entries(runs).map(([promise, run]) => ({ promise, page, run }));

export async function runCheck({ promise, page, run }: Check, context: Context): Promise<Result> {
  try {
    await run(context);
    return { outcome: "ok", promise, page };
  } catch (error) {
    const outcome = error instanceof Skipped ? "skipped" : "FAILED";
    const known = error instanceof Skipped || error instanceof Failure;
    return { outcome, promise, page, reason: known ? error.message : String(error) };
  }
}

/** Makes records at their first use. */
export function shared<T>(context: Context, make: (context: Context) => Promise<T>): Promise<T> {
  const made = context.shared.get(make) ?? make(context);
  context.shared.set(make, made);
  return made as Promise<T>;
}
