import { ConditionalCheckFailedException } from "@aws-sdk/client-dynamodb";
import { UpdateCommand } from "@aws-sdk/lib-dynamodb";
import { rateWindowKey } from "../dynamodb/keys.ts";
import { table, tableName } from "../dynamodb/table-client.ts";
import { optionalCount, requiredCount } from "../env.ts";
import * as logEvents from "../logging/log-events.ts";
import { loggedError } from "../logging/logged-error.ts";

/** How many requests an account may make in a window of so many seconds; windows begin at multiples of their length. */
export interface RateLimit {
  readonly requests: number;
  readonly seconds: number;
}

/** The limit of every account, if there is one. */
export const rateLimit: RateLimit | undefined = readRateLimit();

function readRateLimit(): RateLimit | undefined {
  const requests = optionalCount("RATE_LIMIT_REQUESTS");
  return requests === undefined ? undefined : { requests, seconds: requiredCount("RATE_LIMIT_SECONDS") };
}

/** What the limit says of a request. */
export interface Permit {
  readonly granted: boolean;
  /** Requests that are left in the window, as far as this environment knows. */
  readonly remaining: number;
  /** Seconds to the window's end. */
  readonly reset: number;
}

/** Permits are leased one at first, then twice as many each time, up to this many. */
const largestLease = 10;

/** The part of what was left when it last asked that a lease takes at the most: what it leaves unused is lost. */
const largestShare = 0.02;

/** How long requests pass without asking after the store has failed, in milliseconds. */
const failOpenTime = 5000;

/** What an environment knows of an account in the window. */
interface Account {
  permits: number;
  lease: number;
  remaining: number;
}

/**
 * Makes the function that asks whether an account may make a request. It leases permits from the table a few at a time,
 * so a busy account costs few writes; once refused, it denies by itself until the window ends. When the table fails,
 * requests pass, but for those of accounts that it has refused before.
 *
 * @param patience how long leasing may take, in milliseconds
 * @returns what gives a permit at once when it need not ask
 */
export function rateLimiter(
  { requests, seconds }: RateLimit,
  patience = 500,
): (account: string) => Permit | Promise<Permit> {
  let window = 0;
  let accounts = new Map<string, Account>();
  let failOpenUntil = 0;

  /** Leases permits: fewer when other environments have left too few. */
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

  function open(error: unknown): void {
    failOpenUntil = Date.now() + failOpenTime;
    console.warn({ event: logEvents.rateLimiterFailedOpen, cause: loggedError(error) });
  }

  /** Takes a permit of those at hand; what the table has refused needs no table to be refused again. */
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
    return lease(rateWindowKey(account, start), known, AbortSignal.timeout(patience))
      .catch(open)
      .then(() => takePermit(known));
  };
}

type WindowKey = ReturnType<typeof rateWindowKey>;

/** Adds to what an account has used in a window, unless that would be more than it may. */
async function addUsed(
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
