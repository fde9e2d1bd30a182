import { ConditionalCheckFailedException } from "@aws-sdk/client-dynamodb";
import { UpdateCommand } from "@aws-sdk/lib-dynamodb";
import { rateWindowKey } from "../dynamodb/keys.ts";
import { table, tableName } from "../dynamodb/table-client.ts";
import * as logEvents from "../logging/log-events.ts";
import { loggedError } from "../logging/logged-error.ts";

/** How many requests an account may make in a window; windows start at multiples of their length. */
export interface RateLimit {
  readonly requests: number;
  readonly seconds: number;
}

/** The limit of every account; undefined without one. */
export const rateLimit: RateLimit | undefined = readRateLimit();

function readRateLimit(): RateLimit | undefined {
  if (process.env.RATE_LIMIT_REQUESTS === undefined) return undefined;
  return { requests: readCount("RATE_LIMIT_REQUESTS"), seconds: readCount("RATE_LIMIT_SECONDS") };
}

function readCount(name: string): number {
  const value = process.env[name] ?? "";
  if (!/^[1-9]\d{0,8}$/.test(value)) throw new Error(`${name} must be a whole number above 0.`);
  return Number(value);
}

/** The decision on a request. */
export interface Permit {
  readonly granted: boolean;
  /** Remaining requests of the window, as far as this environment knows. */
  readonly remaining: number;
  /** Seconds to the end of the window. */
  readonly reset: number;
}

/** The first lease has one permit, each later one twice as many, up to this number. */
const largestLease = 10;

/** The largest part of the remaining requests that one lease takes: permits that it does not use are lost. */
const largestShare = 0.02;

/** How long the limiter fails open after an error of the table, in milliseconds. */
const failOpenTime = 5000;

/** The state of an account in the current window, as far as this environment knows. */
interface Account {
  permits: number;
  lease: number;
  remaining: number;
}

/**
 * Creates the limiter: a function that decides whether an account may make a request. It leases permits from the table a
 * few at a time, so a busy account costs few writes. An account that was refused stays refused until the window ends,
 * without another call. When the table fails, the limiter fails open for all other accounts.
 *
 * @param timeout how long a lease may take, in milliseconds
 * @returns a permit, or a promise of one when it needs a lease
 */
export function rateLimiter(
  { requests, seconds }: RateLimit,
  timeout = 500,
): (account: string) => Permit | Promise<Permit> {
  let window = 0;
  let accounts = new Map<string, Account>();
  let failOpenUntil = 0;

  /** Leases permits: one at a time if other environments have left too few. */
  async function lease(key: WindowKey, known: Account, abortSignal: AbortSignal): Promise<void> {
    const count = Math.max(1, Math.min(known.lease, Math.floor(known.remaining * largestShare)));
    const expiresAt = Number(key.sk) + 2 * seconds;
    const { added, used } = await addUsed(key, { count, requests, expiresAt }, abortSignal);
    known.remaining = Math.max(0, requests - used);
    if (added) {
      known.permits += count;
      known.lease = Math.min(count * 2, largestLease);
    } else if (count > 1 && known.remaining > 0) {
      await lease(key, known, abortSignal);
    }
  }

  function failOpen(error: unknown): void {
    failOpenUntil = Date.now() + failOpenTime;
    console.warn({ event: logEvents.rateLimiterFailedOpen, cause: loggedError(error) });
  }

  /** Takes one of the leased permits; an account that the table has refused stays refused when the limiter fails open. */
  function takePermit(known: Account): Permit {
    const granted = known.permits > 0 || (known.remaining > 0 && Date.now() < failOpenUntil);
    known.permits = Math.max(0, known.permits - 1);
    const reset = Math.max(1, Math.ceil(window + seconds - Date.now() / 1000));
    return { granted, remaining: known.remaining + known.permits, reset };
  }

  return (account) => {
    const now = Date.now();
    const start = Math.floor(now / 1000 / seconds) * seconds;
    if (start !== window) {
      window = start;
      accounts = new Map();
    }
    const known = accounts.get(account) ?? { permits: 0, lease: 1, remaining: requests };
    accounts.set(account, known);
    if (known.permits > 0 || known.remaining === 0 || now < failOpenUntil) return takePermit(known);
    return lease(rateWindowKey(account, start), known, AbortSignal.timeout(timeout))
      .catch(failOpen)
      .then(() => takePermit(known));
  };
}

type WindowKey = ReturnType<typeof rateWindowKey>;

/** Adds to the used requests of a window, unless that would exceed the limit. */
export async function addUsed(
  key: WindowKey,
  { count, requests, expiresAt }: { count: number; requests: number; expiresAt: number },
  abortSignal: AbortSignal,
): Promise<{ added: boolean; used: number }> {
  const command = new UpdateCommand({
    TableName: tableName,
    Key: key,
    UpdateExpression: "ADD used :count SET expiresAt = :end",
    ConditionExpression: "attribute_not_exists(used) OR used <= :most",
    ExpressionAttributeValues: { ":count": count, ":most": requests - count, ":end": expiresAt },
    ReturnValues: "UPDATED_NEW",
    ReturnValuesOnConditionCheckFailure: "ALL_OLD",
  });
  try {
    const { Attributes } = await table.send(command, { abortSignal });
    return { added: true, used: Number(Attributes?.used) };
  } catch (error) {
    if (!(error instanceof ConditionalCheckFailedException)) throw error;
    return { added: false, used: Number(error.Item?.used?.N ?? requests) };
  }
}
