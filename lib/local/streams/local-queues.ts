import { createHash, randomUUID } from "node:crypto";
import { setTimeout } from "node:timers/promises";
import type { SQSBatchResponse } from "aws-lambda";
import type { FunctionQueue } from "../template/event-source.ts";
import type { Invoke } from "../template/functions.ts";
import { openStoredMap } from "./stored-map.ts";

interface QueueOptions {
  /** Keeps the waiting messages from one run to the next. */
  readonly file: string;
  readonly invoke: Invoke;
  readonly log: (line: string) => void;
  /** Ends all retries. */
  readonly signal: AbortSignal;
}

interface QueueMessage {
  readonly Id: string;
  readonly MessageBody: string;
  readonly MessageGroupId: string;
  readonly MessageDeduplicationId: string;
}

/** What SQS returns for a message. The SDK verifies the digest. */
const receipt = (body: string) => ({
  MessageId: randomUUID(),
  MD5OfMessageBody: createHash("md5").update(body).digest("hex"),
});

/**
 * Opens the queues: failure queues, which nothing reads, and FIFO queues. A FIFO queue passes each group's messages to its
 * function in order, one at a time, and groups in parallel. A message that the last run did not finish is redelivered. A
 * message is ignored if it waits already; SQS ignores it for five minutes instead.
 *
 * @see https://docs.aws.amazon.com/AWSSimpleQueueService/latest/SQSDeveloperGuide/FIFO-queues-understanding-logic.html
 */
export function openLocalQueues(
  queues: readonly FunctionQueue[],
  { file, invoke, log, signal }: QueueOptions,
) {
  /** Messages that wait or are being delivered, by deduplication id. `visibleAt` is in milliseconds since the epoch. */
  const waiting = openStoredMap<readonly [url: string, QueueMessage, visibleAt: number]>(file);
  /** The last delivery of each group, which the next one waits for. */
  const groups = new Map<string, Promise<void>>();
  /** After how many seconds a received message is visible again, by receipt handle, if its function has set it. */
  const pauses = new Map<string, number>();

  for (const kept of waiting.values()) deliverInOrder(...kept);

  const pause = (milliseconds: number) =>
    setTimeout(milliseconds, undefined, { signal, ref: false }).catch(() => {});

  function deliverInOrder(url: string, entry: QueueMessage, visibleAt: number): void {
    const queue = queues.find((each) => each.url === url);
    if (!queue) return;
    const before = groups.get(entry.MessageGroupId) ?? Promise.resolve();
    groups.set(
      entry.MessageGroupId,
      before.then(() => deliver(queue, entry, visibleAt)),
    );
  }

  async function deliver(queue: FunctionQueue, entry: QueueMessage, visibleAt: number): Promise<void> {
    const { MessageBody, MessageGroupId, MessageDeduplicationId } = entry;
    /** Hides the message for some seconds, also from the next run, because its function may still be at work. */
    const hide = (seconds: number) =>
      waiting.set([MessageDeduplicationId, [queue.url, entry, Date.now() + seconds * 1000]]);
    if (visibleAt > Date.now()) await pause(visibleAt - Date.now());
    const messageId = randomUUID();
    for (let receives = 1; receives <= queue.maxReceives && !signal.aborted; receives++) {
      const receiptHandle = randomUUID();
      const attributes = { MessageGroupId, ApproximateReceiveCount: `${receives}` };
      hide(queue.visibilityTimeout);
      const records = [{ messageId, receiptHandle, body: MessageBody, attributes, eventSource: "aws:sqs" }];
      const isDone = await invoke(queue.function, JSON.stringify({ Records: records })).then(
        (response) => ((response as SQSBatchResponse | undefined)?.batchItemFailures ?? []).length === 0,
        () => false,
      );
      const seconds = pauses.get(receiptHandle) ?? queue.visibilityTimeout;
      pauses.delete(receiptHandle);
      if (isDone) return waiting.delete(MessageDeduplicationId);
      if (!signal.aborted) hide(seconds);
      await pause(seconds * 1000);
    }
    if (signal.aborted) return;
    waiting.delete(MessageDeduplicationId);
    log(`[${queue.url}] a message was given up (on AWS, it goes to its dead-letter queue)`);
  }

  return {
    /** Logs a message to a failure queue, which contains a position in the stream. */
    async SendMessage(input: { readonly QueueUrl: string; readonly MessageBody: string }) {
      log(`[${input.QueueUrl}] ${input.MessageBody}`);
      return receipt(input.MessageBody);
    },
    async SendMessageBatch(input: { readonly QueueUrl: string; readonly Entries: readonly QueueMessage[] }) {
      const entries = new Map(
        input.Entries.filter((entry) => !waiting.get(entry.MessageDeduplicationId)).map((entry) => [
          entry.MessageDeduplicationId,
          [input.QueueUrl, entry, Date.now()] as const,
        ]),
      );
      // Stored before the response, because the position in the stream is stored after the response.
      waiting.set(...entries);
      for (const each of entries.values()) deliverInOrder(...each);
      return {
        Successful: input.Entries.map(({ Id, MessageBody }) => ({ Id, ...receipt(MessageBody) })),
        Failed: [],
      };
    },
    async ChangeMessageVisibility(input: {
      readonly ReceiptHandle: string;
      readonly VisibilityTimeout: number;
    }) {
      pauses.set(input.ReceiptHandle, input.VisibilityTimeout);
      return {};
    },
  };
}
