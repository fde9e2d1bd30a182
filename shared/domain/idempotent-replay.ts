import { createHash } from "node:crypto";
import { UpdateCommand } from "@aws-sdk/lib-dynamodb";
import { StaleReadError } from "../dynamodb/dynamodb-errors.ts";
import { ifValid, isCount, isText, readFields } from "../dynamodb/invalid-items.ts";
import { idempotencyKey } from "../dynamodb/keys.ts";
import { type Item, type Key, readItem, table, tableName } from "../dynamodb/table-client.ts";
import { retryBriefly } from "../dynamodb/throttling.ts";
import { type TransactItems, transact } from "../dynamodb/transact.ts";
import type { buildUpdate } from "../dynamodb/updates.ts";
import { ApiError, InvalidItemError } from "../errors.ts";
import { isId } from "../ids.ts";
import { readRecord } from "../schemas/record.ts";
import type { Validator } from "../schemas/validator.ts";

/** How long most requests are remembered, in seconds. */
export const usualLifetime = 24 * 60 * 60;

/** A request that takes effect once, however often it is sent. */
export interface IdempotentRequest {
  readonly key: Key;
  /** Distinguishes the request from another with the same Idempotency-Key. */
  readonly fingerprint: string;
  /** How long it is remembered, in seconds; by default a day. */
  readonly lifetime?: number;
}

/**
 * The ids of what a request created or changed. The response to a creation follows from these ids and the request; the record
 * of an update contains the response.
 */
type Ids = Readonly<Record<string, string>>;

/** The record as a write has left it. */
export interface WriteOutcome<T extends object> {
  readonly record: T;
  readonly made: "created" | "changed";
  /** Whether an earlier identical request has made it. */
  readonly replayed?: boolean;
}

/** Thrown, and caught, for a request that has already been carried out. Its cause is the record. */
class AlreadyRecordedError extends Error {}

/**
 * An account's request to a route.
 *
 * @param key the value of its Idempotency-Key header
 * @param input the parsed query and body: the order of their fields does not matter
 */
export function idempotentRequest(account: string, route: string, key: string, input: object) {
  const json = JSON.stringify(input, (_, value) =>
    typeof value !== "object" || value === null || Array.isArray(value)
      ? value
      : Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1)),
  );
  const fingerprint = createHash("sha256").update(json).digest("base64url");
  return { key: idempotencyKey(account, route, key), fingerprint };
}

/**
 * Writes all items or none, together with the record of the request that they carry out.
 *
 * @param response if it does not follow from the ids and the request
 * @throws AlreadyRecordedError, or the errors of `transact`
 */
export async function transactOnce(
  idempotency: IdempotentRequest | undefined,
  ids: Ids,
  items: TransactItems,
  response?: object,
): Promise<void> {
  if (!idempotency) return transact(items, { isRepeatable: false });
  try {
    await transact([putRecord(idempotency, ids, response), ...items]);
  } catch (error) {
    const isRecorded = error instanceof StaleReadError && error.item.pk === idempotency.key.pk;
    throw isRecorded ? new AlreadyRecordedError("", { cause: error.item }) : error;
  }
}

/**
 * Writes an update of an item, if anything differs, with the record of the request that it carries out.
 *
 * @param response the response to the request, which the record contains
 * @param update its condition must no longer hold once it is written, so that a second run would change nothing
 * @param others what is written and checked together with the update
 */
export async function updateOnce(
  idempotency: IdempotentRequest | undefined,
  ids: Ids,
  response: object,
  update: ReturnType<typeof buildUpdate> | undefined,
  others: TransactItems = [],
): Promise<void> {
  const items = update ? [{ Update: update }, ...others] : [];
  if (idempotency) await transactOnce(idempotency, ids, items, response);
  else if (others.length > 0) await transact(items);
  else if (update) await table.send(new UpdateCommand(update));
}

/** Reads the response that the record of a change contains. @throws InvalidItemError */
export const readResponse = <T>(validate: Validator<T>, record: Item): T =>
  readRecord(validate, { ...record, details: record.response });

function putRecord(request: IdempotentRequest, ids: Ids, response?: object) {
  const { key, fingerprint, lifetime = usualLifetime } = request;
  const now = Math.floor(Date.now() / 1000);
  return {
    Put: {
      TableName: tableName,
      Item: { ...key, fingerprint, ids, response, expiresAt: now + lifetime },
      // DynamoDB deletes expired items hours later.
      ConditionExpression: "attribute_not_exists(pk) OR expiresAt <= :now",
      ExpressionAttributeValues: { ":now": now },
      ReturnValuesOnConditionCheckFailure: "ALL_OLD" as const,
    },
  };
}

/** Reads the record of a request that has been carried out; undefined if there is none, or it has expired. */
export async function readRecorded({ key }: IdempotentRequest): Promise<Item | undefined> {
  const item = await readItem(key);
  const isExpired = typeof item?.expiresAt === "number" && item.expiresAt <= Date.now() / 1000;
  return isExpired ? undefined : item;
}

/**
 * Carries out a request, or returns its first outcome again. An attempt that loses against other writers is retried for a
 * short time. If it is refused, the request may have been carried out before, so its record is read. An invalid record counts
 * as that of another request, because it may be a damaged record of this one.
 *
 * @param prefixes the prefixes of the ids that the request creates
 * @param toOutcome builds the outcome from the ids of the record, and from the record, which may contain the response
 * @param checkReplay throws if the outcome must not be returned again
 * @throws ApiError `idempotency_key_reused`, or the error of the last attempt
 */
export const runIdempotently = <T extends object, Made extends Ids>(
  idempotency: IdempotentRequest | undefined,
  prefixes: Made,
  toOutcome: (ids: Made, record: Item) => WriteOutcome<T>,
  attempt: () => Promise<WriteOutcome<T>>,
  checkReplay: (record: T) => Promise<void> = async () => {},
): Promise<WriteOutcome<T>> =>
  retryBriefly(async () => {
    try {
      return await attempt();
    } catch (error) {
      if (!idempotency) throw error;
      const stored = error instanceof ApiError ? await readRecorded(idempotency) : undefined;
      const record = error instanceof AlreadyRecordedError ? (error.cause as Item) : stored;
      if (!record) throw error;
      const outcome = ifValid(() => {
        const { fingerprint } = readFields(record, { fingerprint: isText, expiresAt: isCount });
        const ids = (record.ids ?? {}) as Made;
        if (!Object.entries(prefixes).every(([name, prefix]) => isId(prefix, ids[name])))
          throw new InvalidItemError(record, "ids");
        return fingerprint === idempotency.fingerprint ? toOutcome(ids, record) : undefined;
      });
      if (!outcome)
        throw new ApiError(
          "idempotency_key_reused",
          "The Idempotency-Key was sent before with another body or query. A new request needs a new key.",
        );
      // The lead may have been erased meanwhile, and then no response about it is returned.
      if (error instanceof ApiError && error.code.endsWith("_not_found")) throw error;
      await checkReplay(outcome.record);
      return { ...outcome, replayed: true };
    }
  });
