import type { DynamoDBRecord } from "aws-lambda";
import type { EventSource } from "../template/event-source.ts";

/** How a batch is delivered. */
export interface Delivery {
  readonly source: Pick<EventSource, "maxAge" | "reportsFailures">;
  /** When the run began to deliver the stream, in milliseconds since the epoch. */
  readonly startedAt: number;
  readonly now: () => number;
  /** Invokes the function with records. */
  readonly invoke: (records: readonly DynamoDBRecord[]) => Promise<unknown>;
  /** Called with the records that are too old. */
  readonly onDiscarded: (records: readonly DynamoDBRecord[], attempts: number) => void;
  readonly delay: (milliseconds: number) => Promise<unknown>;
  readonly signal: AbortSignal;
}

const firstDelay = 100;
const maxDelay = 10_000;

/**
 * Delivers a batch as Lambda does: a failed batch is retried from its first failed record, a batch for which the
 * function threw is split in two, and records that are too old are discarded.
 *
 * @param attempt how many attempts have failed before
 * @see https://docs.aws.amazon.com/lambda/latest/dg/services-ddb-batchfailurereporting.html
 */
export async function deliverBatch(
  batch: readonly DynamoDBRecord[],
  delivery: Delivery,
  attempt = 0,
): Promise<void> {
  const { onDiscarded, delay, signal } = delivery;
  const { expired = [], current = [] } = Object.groupBy(batch, (record) =>
    isExpired(record, delivery) ? "expired" : "current",
  );
  if (expired.length > 0) onDiscarded(expired, attempt);
  if (current.length === 0) return;
  const { threw, failed } = await invoke(current, delivery);
  if (failed.length === 0 || signal.aborted) return;
  if (threw && failed.length > 1) {
    const middle = Math.ceil(failed.length / 2);
    await deliverBatch(failed.slice(0, middle), delivery, attempt);
    return deliverBatch(failed.slice(middle), delivery, attempt);
  }
  await delay(Math.min(firstDelay * 2 ** attempt, maxDelay));
  if (!signal.aborted) return deliverBatch(failed, delivery, attempt + 1);
}

/** Lambda runs without a pause, so the time before this run does not count. */
function isExpired({ dynamodb }: DynamoDBRecord, { source, startedAt, now }: Delivery): boolean {
  const writtenAt = (dynamodb?.ApproximateCreationDateTime ?? 0) * 1000;
  return now() - Math.max(writtenAt, startedAt) > source.maxAge;
}

async function invoke(batch: readonly DynamoDBRecord[], { invoke, source }: Delivery) {
  try {
    const response = await invoke(batch);
    return { threw: false, failed: source.reportsFailures ? sliceFromFailure(batch, response) : [] };
  } catch {
    // The function pool has logged the cause.
    return { threw: true, failed: batch };
  }
}

/** The records from the first reported failure on; all records when the function reports an unknown one. */
function sliceFromFailure(batch: readonly DynamoDBRecord[], response: unknown): readonly DynamoDBRecord[] {
  const failures = (response as { batchItemFailures?: unknown } | null)?.batchItemFailures ?? [];
  if (!Array.isArray(failures)) return batch;
  if (failures.length === 0) return [];
  const indexes = (failures as ({ readonly itemIdentifier?: unknown } | null)[]).map((failure) =>
    batch.findIndex((record) => isSameNumber(record.dynamodb?.SequenceNumber, failure?.itemIdentifier)),
  );
  return batch.slice(Math.max(0, Math.min(...indexes)));
}

/** Engines pad sequence numbers differently. */
const isSameNumber = (sequenceNumber: unknown, other: unknown) =>
  [sequenceNumber, other].every((text) => /^\d+$/.test(String(text))) &&
  BigInt(String(sequenceNumber)) === BigInt(String(other));
