import {
  ConditionalCheckFailedException,
  ProvisionedThroughputExceededException,
  ThrottlingException,
  TransactionCanceledException,
} from "@aws-sdk/client-dynamodb";
import { isThrottlingError, isTransientError } from "@smithy/core/retry";
import type { Item } from "../schemas/record.ts";

/** Thrown when an item is no longer as it was read; the caller may read it again and retry. */
export class StaleReadError extends Error {
  override readonly name = "StaleReadError";
  /** The item as it is now, if it was asked for and exists. */
  readonly item: Item;

  constructor(item: Item = {}) {
    super("The item has changed since it was read.");
    this.item = item;
  }
}

/** Thrown when a request would need more calls, read units or time than it may use. */
export class TooExpensiveError extends Error {
  override readonly name = "TooExpensiveError";
  /** Why the request is too expensive now, for the log. */
  readonly code: "too_many_reads" | "invalid_items" | "too_slow" | "not_admitted";

  constructor(code: TooExpensiveError["code"], message: string, options?: ErrorOptions) {
    super(message, options);
    this.code = code;
  }
}

/** Thrown when an account uses something of its own, such as a conversation or a list, too much at once. */
export class TooManyAtOnceError extends Error {
  override readonly name = "TooManyAtOnceError";
  /** Until when this environment refuses further use, in milliseconds since the epoch. */
  readonly until: number;

  constructor(message: string, { until = 0, cause }: { until?: number; cause?: unknown } = {}) {
    super(message, { cause });
    this.until = until;
  }
}

/** The error for a batch of which some items were not processed. DynamoDB itself throws it only if it processes none. */
export const unprocessed = (what: string) =>
  new ProvisionedThroughputExceededException({ message: `Unprocessed ${what}`, $metadata: {} });

/** What an error means to the caller. */
export type ErrorKind =
  /** Another write came first: a condition did not hold, or a transaction held the item. */
  | "conflict"
  /** A transaction was throttled. Its reasons do not state which limit caused it, and the SDK makes no second attempt. */
  | "transaction-throttled"
  /** The table throttled a call because of the partition of its key. */
  | "key-throttled"
  /** The table throttled a call because of another limit: its own, or one of the AWS account. */
  | "throttled"
  /** The table could not be reached, or failed, or has not completed a transaction yet. */
  | "unreachable"
  /** This environment refuses further use of something that the account uses too much at once. */
  | "too-many-at-once"
  /** The request would need more calls or time than it may use. */
  | "too-expensive"
  /** The table refuses the call, for example without permission. */
  | "refused"
  /** The cause is the stored data or the code: the table found the call invalid, or was not called. */
  | "invalid";

/** @see https://docs.aws.amazon.com/amazondynamodb/latest/APIReference/API_TransactWriteItems.html */
export function classify(error: unknown): ErrorKind {
  if (error instanceof TooManyAtOnceError) return "too-many-at-once";
  if (error instanceof TooExpensiveError) return "too-expensive";
  if (error instanceof StaleReadError || error instanceof ConditionalCheckFailedException) return "conflict";
  if (!(error instanceof Error)) return "invalid";
  const reasons = error instanceof TransactionCanceledException ? (error.CancellationReasons ?? []) : [];
  const isCanceledFor = (...codes: readonly string[]) =>
    reasons.some(({ Code = "" }) => codes.includes(Code));
  if (error.name === "TransactionConflictException") return "conflict";
  if (isCanceledFor("ConditionalCheckFailed", "TransactionConflict")) return "conflict";
  if (isCanceledFor("ThrottlingError", "ProvisionedThroughputExceeded")) return "transaction-throttled";
  // The SDK counts it as a throttle, but an earlier attempt of the same transaction is still under way.
  if (error.name === "TransactionInProgressException") return "unreachable";
  if (isThrottlingError(error as SdkError)) return isKeyThrottled(error) ? "key-throttled" : "throttled";
  if (isTransientError(error as SdkError)) return "unreachable";
  return error.name === "ValidationException" || !("$metadata" in error) ? "invalid" : "refused";
}

type SdkError = Parameters<typeof isTransientError>[0];

/**
 * Whether the partition of a key is why a call was throttled. A throttle without a reason counts as one of the partition.
 *
 * @see https://docs.aws.amazon.com/amazondynamodb/latest/APIReference/API_ThrottlingReason.html
 */
function isKeyThrottled(error: Error): boolean {
  const isLimited = error instanceof ProvisionedThroughputExceededException;
  if (!isLimited && !(error instanceof ThrottlingException)) return false;
  // The SDK's two classes write the name differently.
  const reasons = (isLimited ? error.ThrottlingReasons : error.throttlingReasons) ?? [];
  return reasons.length === 0 || reasons.some(({ reason }) => reason?.endsWith("KeyRangeThroughputExceeded"));
}

/** Whether an error is of one of some kinds. */
export const isOfKind = (error: unknown, ...kinds: readonly ErrorKind[]) => kinds.includes(classify(error));

/** Whether an account alone caused the error, by using something of its own too much at once. */
export const isContended = (error: unknown) =>
  isOfKind(error, "conflict", "transaction-throttled", "key-throttled", "too-many-at-once");

/** Whether the load on the table or other writers caused the error: the caller may try again. */
export const isBusy = (error: unknown) =>
  isContended(error) || isOfKind(error, "throttled", "unreachable", "too-expensive");
