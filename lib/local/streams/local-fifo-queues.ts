import { createHash, randomUUID } from "node:crypto";
import { setTimeout } from "node:timers/promises";
import type { SQSBatchResponse } from "aws-lambda";
import type { FunctionQueue } from "../template/channels.ts";
import type { Invoke } from "../template/functions.ts";

interface Entry {
  readonly Id: string;
  readonly MessageBody: string;
  readonly MessageGroupId: string;
  readonly MessageDeduplicationId: string;
}

/**
 * Opens FIFO queues in memory, which end with the run. Each group is fed to the function of its queue in its order, a message at
 * a time, and groups beside each other.
 *
 * @see https://docs.aws.amazon.com/AWSSimpleQueueService/latest/SQSDeveloperGuide/FIFO-queues-understanding-logic.html
 */
export function openLocalFifoQueues(
  queues: readonly FunctionQueue[],
  { invoke, log }: { readonly invoke: Invoke; readonly log: (line: string) => void },
) {
  const stopping = new AbortController();
  const known = new Set<string>();
  /** The last delivery of each group, which the next one waits for. */
  const groups = new Map<string, Promise<void>>();
  /** When received messages are visible again, if their function has said so, in seconds. */
  const pauses = new Map<string, number>();

  async function deliver(queue: FunctionQueue, { MessageBody, MessageGroupId }: Entry): Promise<void> {
    const [messageId, receiptHandle] = [randomUUID(), randomUUID()];
    for (let receives = 1; receives <= queue.maxReceives && !stopping.signal.aborted; receives++) {
      const attributes = { MessageGroupId, ApproximateReceiveCount: `${receives}` };
      const records = [{ messageId, receiptHandle, body: MessageBody, attributes, eventSource: "aws:sqs" }];
      const isDone = await invoke(queue.function, JSON.stringify({ Records: records })).then(
        (response) => ((response as SQSBatchResponse | undefined)?.batchItemFailures ?? []).length === 0,
        () => false,
      );
      if (isDone) return;
      const pause = (pauses.get(receiptHandle) ?? queue.visibilityTimeout) * 1000;
      await setTimeout(pause, undefined, { signal: stopping.signal, ref: false }).catch(() => {});
    }
    if (!stopping.signal.aborted)
      log(`[${queue.url}] a message is given up, on AWS to its dead-letter queue`);
  }

  return {
    /** `SendMessageBatch` */
    async sendMessageBatch({
      QueueUrl,
      Entries,
    }: {
      readonly QueueUrl: string;
      readonly Entries: readonly Entry[];
    }) {
      const queue = queues.find(({ url }) => url === QueueUrl);
      for (const entry of Entries) {
        if (!queue || known.has(entry.MessageDeduplicationId)) continue;
        known.add(entry.MessageDeduplicationId);
        const before = groups.get(entry.MessageGroupId) ?? Promise.resolve();
        groups.set(
          entry.MessageGroupId,
          before.then(() => deliver(queue, entry)),
        );
      }
      const Successful = Entries.map(({ Id, MessageBody }) => ({
        ...{ Id, MessageId: randomUUID() },
        // The SDK compares it.
        MD5OfMessageBody: createHash("md5").update(MessageBody).digest("hex"),
      }));
      return { Successful, Failed: [] };
    },
    /** `ChangeMessageVisibility` */
    async changeMessageVisibility({
      ReceiptHandle,
      VisibilityTimeout,
    }: {
      readonly ReceiptHandle: string;
      readonly VisibilityTimeout: number;
    }) {
      pauses.set(ReceiptHandle, VisibilityTimeout);
      return {};
    },
    /** Ends all retries. */
    stop: () => stopping.abort(),
  };
}
