import type { DynamoDBBatchResponse, DynamoDBRecord } from "aws-lambda";
import { retryDelay } from "./retry-delay.ts";

/** How a batch is delivered. */
interface Delivery {
  /** Invokes the function with records. @returns its response */
  readonly deliver: (records: readonly DynamoDBRecord[]) => Promise<unknown>;
  readonly wait: (milliseconds: number) => Promise<unknown>;
  readonly signal: AbortSignal;
}

/**
 * Delivers a batch until nothing of it fails, again from its first failed record on. AWS would also halve a batch for
 * which the function threw, and give up records that are too old.
 *
 * @see https://docs.aws.amazon.com/lambda/latest/dg/services-ddb-batchfailurereporting.html
 */
export async function deliverBatch(
  batch: readonly DynamoDBRecord[],
  { deliver, wait, signal }: Delivery,
): Promise<void> {
  let rest = batch;
  for (let attempt = 0; rest.length > 0 && !signal.aborted; attempt++) {
    if (attempt > 0) await wait(retryDelay(attempt - 1));
    if (signal.aborted) return;
    const records = rest;
    // The function pool has logged why a function threw.
    rest = await deliver(records).then(
      (response) => sliceFromFailure(records, response),
      () => records,
    );
  }
}

/** The records from the first reported failure on; all records when the function reports an unknown one. */
function sliceFromFailure(batch: readonly DynamoDBRecord[], response: unknown): readonly DynamoDBRecord[] {
  const { batchItemFailures = [] } = Object(response) as Partial<DynamoDBBatchResponse>;
  if (batchItemFailures.length === 0) return [];
  const indexes = batchItemFailures.map(({ itemIdentifier }) =>
    batch.findIndex(({ dynamodb }) => dynamodb?.SequenceNumber === itemIdentifier),
  );
  return batch.slice(Math.max(0, Math.min(...indexes)));
}
