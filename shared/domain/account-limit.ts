import { GetCommand } from "@aws-sdk/lib-dynamodb";
import { accountLimitKey } from "../dynamodb/keys.ts";
import { table, tableName } from "../dynamodb/table-client.ts";

/** An account's limit, as far as an environment knows. */
export interface KnownLimit {
  /** How many requests the account may make in a window. */
  requests: number;
  /** Until when the limit need not be read again, in milliseconds since the epoch. */
  limitUntil: number;
}

/** How long a limit is known before it is read again, in milliseconds. */
const knownTime = 60_000;

/** How long it is not read after it could not be read, in milliseconds. */
const unreadableTime = 5000;

/**
 * Reads the limit of an account, if it is not known. A limit that cannot be read stays as it was.
 *
 * @param stageLimit the limit of an account that has none of its own
 * @throws the error of the table
 */
export async function learnLimit(
  account: string,
  known: KnownLimit,
  stageLimit: number,
  abortSignal: AbortSignal,
): Promise<void> {
  const now = Date.now();
  if (now < known.limitUntil) return;
  known.limitUntil = now + unreadableTime;
  // Eventually consistent, for half a unit: an operator changes it seldom.
  const command = new GetCommand({ TableName: tableName, Key: accountLimitKey(account) });
  const { Item } = await table.send(command, { abortSignal });
  known.requests = Number(Item?.requests ?? stageLimit);
  known.limitUntil = now + knownTime;
}
