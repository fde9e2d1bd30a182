import { createHash } from "node:crypto";
import { idempotencyKey } from "../dynamodb/keys.ts";
import { readItem, tableName } from "../dynamodb/table-client.ts";
import { ApiError } from "../errors.ts";
import type { RouteName } from "../routes.ts";

/** How long a request is remembered, in seconds. */
const lifetime = 24 * 60 * 60;

/** A request that takes effect once, however often it is sent. */
export interface IdempotentRequest {
  /** The key of the item that records the request. */
  readonly key: ReturnType<typeof idempotencyKey>;
  /** Tells the request from another one with the same Idempotency-Key. */
  readonly fingerprint: string;
}

/** What the record of a request keeps of its answer: the ids that were made; all else is in the request itself. */
type Ids = Readonly<Record<string, string>>;

interface IdempotencyRecord {
  readonly fingerprint: string;
  readonly ids: Ids;
  /** In seconds since the epoch; DynamoDB deletes the item some time after. */
  readonly expiresAt: number;
}

/** The answer that was given when the request was carried out. */
export class Replayed<T extends object> {
  readonly response: T;

  constructor(response: T) {
    this.response = response;
  }
}

/** Thrown by an attempt that found the request recorded. */
export class AlreadyRecordedError extends Error {
  override readonly name = "AlreadyRecordedError";
  readonly record: IdempotencyRecord;

  constructor(record: Readonly<Record<string, unknown>>) {
    super("The request has been carried out before.");
    this.record = record as unknown as IdempotencyRecord;
  }
}

/**
 * An account's request to a route.
 *
 * @param key the value of its Idempotency-Key header
 * @param body what was sent, parsed: two bodies are the same whatever the order of their fields
 */
export function idempotentRequest(
  account: string,
  route: RouteName,
  key: string,
  body: object,
): IdempotentRequest {
  const fields = Object.entries(body).sort(([a], [b]) => (a < b ? -1 : 1));
  const fingerprint = createHash("sha256").update(JSON.stringify(fields)).digest("base64url");
  return { key: idempotencyKey(account, route, key), fingerprint };
}

/** The part of a transaction that records a request with the ids made for it, unless it is recorded already. */
export function putRecord({ key, fingerprint }: IdempotentRequest, ids: Ids) {
  const now = Math.floor(Date.now() / 1000);
  return {
    Put: {
      TableName: tableName,
      Item: { ...key, fingerprint, ids, expiresAt: now + lifetime },
      // DynamoDB deletes what has expired hours later.
      ConditionExpression: "attribute_not_exists(pk) OR expiresAt <= :now",
      ExpressionAttributeValues: { ":now": now },
      ReturnValuesOnConditionCheckFailure: "ALL_OLD" as const,
    },
  };
}

/** @throws AlreadyRecordedError when the request is recorded */
export async function throwIfRecorded({ key }: IdempotentRequest): Promise<void> {
  const item = await readItem(key);
  if (item && item.expiresAt > Date.now() / 1000) throw new AlreadyRecordedError(item);
}

/**
 * Carries a request out, or answers what was answered when it was.
 *
 * @param toResponse the answer that has these ids
 * @throws ApiError `idempotency_key_reused`
 */
export async function runIdempotently<T extends object, Made extends Ids>(
  request: IdempotentRequest | undefined,
  toResponse: (ids: Made) => T,
  carryOut: () => Promise<T>,
): Promise<T | Replayed<T>> {
  try {
    return await carryOut();
  } catch (error) {
    if (!(error instanceof AlreadyRecordedError)) throw error;
    const { fingerprint, ids } = error.record;
    if (fingerprint === request?.fingerprint) return new Replayed(toResponse(ids as Made));
    throw new ApiError(
      "idempotency_key_reused",
      "The Idempotency-Key was sent with another body within the last 24 hours. A new request needs a new key.",
    );
  }
}
