import {
  ConditionalCheckFailedException,
  ProvisionedThroughputExceededException,
  ThrottlingException,
  TransactionCanceledException,
} from "@aws-sdk/client-dynamodb";
import { isThrottlingError, isTransientError } from "@smithy/core/retry";

/** Thrown when an item is no longer as it was read; the caller may read it again and retry. */
export class StaleReadError extends Error {
  override readonly name = "StaleReadError";
  /** The item as it is now, if it was asked for and exists. */
  readonly item: Readonly<Record<string, unknown>>;
  /** The position in its transaction of the item that has changed. */
  readonly position: number | undefined;

  constructor(item: Readonly<Record<string, unknown>> = {}, position?: number) {
    super("The item has changed since it was read.");
    this.item = item;
    this.position = position;
  }
}

/** Thrown when it is unknown whether a write took effect, so that a retry could repeat it. */
export class UnknownOutcomeError extends Error {
  override readonly name = "UnknownOutcomeError";
}

/** Thrown when an account asks for too much at once of something of its own, such as a conversation or a list. */
export class TooManyAtOnceError extends Error {
  override readonly name = "TooManyAtOnceError";
  /** Until when this environment refuses more of it, in milliseconds since the epoch. */
  readonly until: number;

  constructor(message: string, { until = 0, cause }: { until?: number; cause?: unknown } = {}) {
    super(message, { cause });
    this.until = until;
  }
}

/** Why a request is too expensive now; the log has it. */
type TooExpensiveCode = "too_many_calls" | "too_slow" | "not_admitted";

/** Thrown when a request would need more calls or time than it may use. */
export class TooExpensiveError extends Error {
  override readonly name = "TooExpensiveError";
  readonly code: TooExpensiveCode;

  constructor(code: TooExpensiveCode, message: string, options?: ErrorOptions) {
    super(message, options);
    this.code = code;
  }
}

/** For a batch of which some were not processed: DynamoDB itself throws this error only when it processes none. */
export const unprocessed = (what: string) =>
  new ProvisionedThroughputExceededException({ message: `Unprocessed ${what}`, $metadata: {} });

/** Whether a write failed because another came first: its condition did not hold, or a transaction held the item. */
export const isWriteConflict = (error: unknown) =>
  error instanceof ConditionalCheckFailedException ||
  (error instanceof Error && error.name === "TransactionConflictException") ||
  isCanceledFor(error, "ConditionalCheckFailed", "TransactionConflict");

/** Whether a retry may succeed where the SDK makes none: after a stale read, or a conflict or throttle in a transaction. */
export const isRetryable = (error: unknown) =>
  error instanceof StaleReadError ||
  isCanceledFor(error, "TransactionConflict", "ThrottlingError", "ProvisionedThroughputExceeded");

/**
 * Whether an account used something of its own too much at once: other writers won, or its partition was throttled. The
 * reasons of a cancelled transaction do not tell which limit throttled it.
 */
export const isHot = (error: unknown) =>
  error instanceof TooManyAtOnceError || isRetryable(error) || isKeyThrottled(error);

/** Whether the table throttled the call, after all of the SDK's retries. */
export const isThrottled = (error: unknown) => error instanceof Error && isThrottlingError(error as SdkError);

/**
 * Whether the table throttled an attempt because of the partition that its key is in. The other reasons are limits of the
 * table and of the AWS account. A throttle without a reason counts as one of the partition.
 *
 * @see https://docs.aws.amazon.com/amazondynamodb/latest/APIReference/API_ThrottlingReason.html
 */
export function isKeyThrottled(error: unknown): boolean {
  const reasons = throttlingReasons(error);
  return (
    reasons !== undefined &&
    (reasons.length === 0 || reasons.some(({ reason = "" }) => reason.endsWith("KeyRangeThroughputExceeded")))
  );
}

/** The reasons of a throttle; undefined for another error. The SDK's two classes write them differently. */
function throttlingReasons(error: unknown) {
  if (error instanceof ThrottlingException) return error.throttlingReasons ?? [];
  if (error instanceof ProvisionedThroughputExceededException) return error.ThrottlingReasons ?? [];
  return undefined;
}

/** Whether the table could not be reached or throttled the call, after all of the SDK's retries. */
export const isTableBusy = (error: unknown) =>
  isThrottled(error) || (error instanceof Error && isTransientError(error as SdkError));

type SdkError = Parameters<typeof isTransientError>[0];

/** Whether the cause is the load on the table, or other writers that won: the caller may try again. */
export const isBusy = (error: unknown) =>
  isHot(error) || isTableBusy(error) || error instanceof TooExpensiveError;

/** Whether the cause is what is stored, or the code, and not the table: the table refuses the call, or was not called. */
export const isOfItems = (error: unknown) =>
  error instanceof Error && (error.name === "ValidationException" || !("$metadata" in error));

/** @see https://docs.aws.amazon.com/amazondynamodb/latest/APIReference/API_TransactWriteItems.html */
const isCanceledFor = (error: unknown, ...codes: readonly string[]) =>
  error instanceof TransactionCanceledException &&
  (error.CancellationReasons ?? []).some(({ Code = "" }) => codes.includes(Code));
