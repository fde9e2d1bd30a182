import type { DynamoDBRecord } from "aws-lambda";
import type { EventSource } from "../template/event-source.ts";

/** What a batch is delivered with. */
export interface Delivery {
  readonly source: Pick<EventSource, "retries" | "bisects" | "reportsFailures">;
  /** Calls the function with records. */
  readonly invoke: (records: readonly DynamoDBRecord[]) => Promise<unknown>;
  /** Told of the records that failed too often. */
  readonly giveUp: (records: readonly DynamoDBRecord[], attempts: number) => void;
  readonly pause: (milliseconds: number) => Promise<unknown>;
  readonly signal: AbortSignal;
}

const firstPause = 100;
const longestPause = 10_000;

/**
 * Delivers a batch as Lambda does: what fails is tried again from the first record that failed, a batch that the
 * function threw is split in two, and what failed too often is given up.
 *
 * @param attempt how many attempts have failed before
 * @see https://docs.aws.amazon.com/lambda/latest/dg/services-ddb-batchfailurereporting.html
 */
export async function deliverBatch(
  batch: readonly DynamoDBRecord[],
  delivery: Delivery,
  attempt = 0,
): Promise<void> {
  const { source, giveUp, pause, signal } = delivery;
  const { threw, failed } = await invoke(batch, delivery);
  if (failed.length === 0 || signal.aborted) return;
  if (threw && source.bisects && failed.length > 1) {
    const middle = Math.ceil(failed.length / 2);
    await deliverBatch(failed.slice(0, middle), delivery, attempt);
    return deliverBatch(failed.slice(middle), delivery, attempt);
  }
  if (attempt >= source.retries) return giveUp(failed, attempt + 1);
  await pause(Math.min(firstPause * 2 ** attempt, longestPause));
  if (!signal.aborted) return deliverBatch(failed, delivery, attempt + 1);
}

async function invoke(batch: readonly DynamoDBRecord[], { invoke, source }: Delivery) {
  try {
    const response = await invoke(batch);
    return { threw: false, failed: source.reportsFailures ? fromFirstFailure(batch, response) : [] };
  } catch {
    // The pool has logged why.
    return { threw: true, failed: batch };
  }
}

/** The records from the first that the function names as failed; all of them when it names one that is not there. */
function fromFirstFailure(batch: readonly DynamoDBRecord[], response: unknown): readonly DynamoDBRecord[] {
  const batchItemFailures = (response as { batchItemFailures?: unknown } | null)?.batchItemFailures ?? [];
  if (!Array.isArray(batchItemFailures)) return batch;
  if (batchItemFailures.length === 0) return [];
  const indexes = batchItemFailures.map((failure) =>
    batch.findIndex((record) => isSame(record.dynamodb?.SequenceNumber, failure?.itemIdentifier)),
  );
  return batch.slice(Math.max(0, Math.min(...indexes)));
}

/** Engines differ in how they pad these numbers. */
const isSame = (sequenceNumber: unknown, other: unknown) =>
  [sequenceNumber, other].every((text) => /^\d+$/.test(String(text))) &&
  BigInt(String(sequenceNumber)) === BigInt(String(other));
