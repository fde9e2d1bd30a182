import { createHash } from "node:crypto";
import { StaleReadError } from "../dynamodb/dynamodb-errors.ts";
import { idempotencyKey } from "../dynamodb/keys.ts";
import { ifWellFormed } from "../dynamodb/malformed-items.ts";
import { isCount, isText, readFields } from "../dynamodb/read-fields.ts";
import { type Item, type Key, readItem, tableName } from "../dynamodb/table-client.ts";
import { retryBriefly } from "../dynamodb/throttling.ts";
import { type TransactItems, transact } from "../dynamodb/transact.ts";
import { ApiError, MalformedItemError } from "../errors.ts";
import { isId } from "../ids.ts";

/** How long a request is remembered, in seconds. */
const lifetime = 24 * 60 * 60;

/** A request that takes effect once, however often it is sent. */
export interface IdempotentRequest {
  readonly key: Key;
  /** Distinguishes the request from another with the same Idempotency-Key. */
  readonly fingerprint: string;
}

/** The ids that a request made. The rest of its response follows from the request itself. */
type Ids = Readonly<Record<string, string>>;

/** The fingerprint and the ids of a record. @throws MalformedItemError */
function readMade<Made extends Ids>(item: Item, prefixes: Made) {
  const { fingerprint } = readFields(item, { fingerprint: isText, expiresAt: isCount }, {});
  const ids = (item.ids ?? {}) as Made;
  if (!Object.entries(prefixes).every(([name, prefix]) => isId(prefix, ids[name])))
    throw new MalformedItemError(item, "ids");
  return { fingerprint, ids };
}

/** The response to the first of several identical requests. */
export class Replayed<T extends object> {
  readonly response: T;

  constructor(response: T) {
    this.response = response;
  }
}

/** Thrown when the request is already recorded. */
class AlreadyRecordedError extends Error {
  override readonly name = "AlreadyRecordedError";
  readonly record: Item;

  constructor(record: Item) {
    super("The request has already been carried out.");
    this.record = record;
  }
}

/**
 * An account's request to a route.
 *
 * @param key the value of its Idempotency-Key header
 * @param body the parsed body: the order of its fields does not matter
 */
export function idempotentRequest(
  account: string,
  route: string,
  key: string,
  body: object,
): IdempotentRequest {
  const fields = Object.entries(body).sort(([a], [b]) => (a < b ? -1 : 1));
  const fingerprint = createHash("sha256").update(JSON.stringify(fields)).digest("base64url");
  return { key: idempotencyKey(account, route, key), fingerprint };
}

/**
 * Writes all items or none, and with them the record of the request that they carry out.
 *
 * @param ids those that the request made
 * @throws AlreadyRecordedError, or the errors of `transact`
 */
export async function transactOnce(
  idempotency: IdempotentRequest | undefined,
  ids: Ids,
  items: TransactItems,
): Promise<void> {
  if (!idempotency) return transact(items);
  try {
    await transact([putRecord(idempotency, ids), ...items], true);
  } catch (error) {
    const recorded = error instanceof StaleReadError && error.position === 0;
    throw recorded ? new AlreadyRecordedError(error.item) : error;
  }
}

function putRecord({ key, fingerprint }: IdempotentRequest, ids: Ids) {
  const now = Math.floor(Date.now() / 1000);
  return {
    Put: {
      TableName: tableName,
      Item: { ...key, fingerprint, ids, expiresAt: now + lifetime },
      // DynamoDB deletes expired items hours later.
      ConditionExpression: "attribute_not_exists(pk) OR expiresAt <= :now",
      ExpressionAttributeValues: { ":now": now },
      ReturnValuesOnConditionCheckFailure: "ALL_OLD" as const,
    },
  };
}

/** @throws AlreadyRecordedError when the request is already recorded */
export async function throwIfRecorded({ key }: IdempotentRequest): Promise<void> {
  const item = await readItem(key);
  const isExpired = typeof item?.expiresAt === "number" && item.expiresAt <= Date.now() / 1000;
  if (item && !isExpired) throw new AlreadyRecordedError(item);
}

/**
 * Carries a request out, or repeats its first response. An attempt that loses against other writers is retried for a short
 * time. A record that cannot be read counts as that of another request: it may be what is left of this one.
 *
 * @param prefixes those of the ids that the request makes
 * @param toResponse builds the response from the ids of the record
 * @throws ApiError `idempotency_key_reused`, or the error of the last attempt
 */
export async function runIdempotently<T extends object, Made extends Ids>(
  idempotency: IdempotentRequest | undefined,
  prefixes: Made,
  toResponse: (ids: Made) => T,
  attempt: () => Promise<T>,
): Promise<T | Replayed<T>> {
  try {
    return await retryBriefly(attempt);
  } catch (error) {
    if (!(error instanceof AlreadyRecordedError)) throw error;
    const record = ifWellFormed(() => readMade(error.record, prefixes));
    if (record && record.fingerprint === idempotency?.fingerprint)
      return new Replayed(toResponse(record.ids));
    throw new ApiError(
      "idempotency_key_reused",
      record
        ? "The Idempotency-Key was sent with another body within the last 24 hours. A new request needs a new key."
        : "The record of this Idempotency-Key cannot be read, so it is unknown whether the request took effect. A new request needs a new key.",
    );
  }
}
