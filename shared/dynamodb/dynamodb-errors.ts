import {
  ConditionalCheckFailedException,
  ProvisionedThroughputExceededException,
  TransactionCanceledException,
} from "@aws-sdk/client-dynamodb";

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

/** Why a request is too expensive now; the log has it. */
type TooExpensiveCode = "too_many_reads" | "malformed_items" | "too_slow" | "not_admitted";

/** Thrown when a request would need more calls, read units or time than it may use. */
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

/** Whether the cause is what is stored, or the code, and not the table: the table refuses the call, or was not called. */
export const isOfItems = (error: unknown) =>
  error instanceof Error && (error.name === "ValidationException" || !("$metadata" in error));

/** @see https://docs.aws.amazon.com/amazondynamodb/latest/APIReference/API_TransactWriteItems.html */
const isCanceledFor = (error: unknown, ...codes: readonly string[]) =>
  error instanceof TransactionCanceledException &&
  (error.CancellationReasons ?? []).some(({ Code = "" }) => codes.includes(Code));
