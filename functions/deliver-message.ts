import { ChangeMessageVisibilityCommand, SQSClient } from "@aws-sdk/client-sqs";
import type { SQSBatchResponse, SQSEvent, SQSRecord } from "aws-lambda";
import { deliverMessage } from "../shared/channels/deliver-message.ts";
import { type MessageSent, UndeliveredError, webhookTime } from "../shared/channels/graph-api.ts";
import { readFrozenAt } from "../shared/domain/accounts.ts";
import * as logEvents from "../shared/logging/log-events.ts";
import { loggedError } from "../shared/logging/logged-error.ts";
import { maskedFailures } from "../shared/logging/masked-failures.ts";

const { DELIVERIES_URL: QueueUrl = "", MAX_ATTEMPTS = "" } = process.env;

const queue = new SQSClient({
  requestHandler: { connectionTimeout: 1000, requestTimeout: 2000 },
  // In the local run, the URL of a queue is only its name.
  useQueueUrlAsEndpoint: false,
});

/** The longest pause between two attempts, in seconds. */
const maxPause = 900;

/**
 * Delivers a message of a channel. The queue passes one message at a time. A message that is retried holds up only the
 * messages of its own conversation.
 */
async function deliver({ Records: [record] }: SQSEvent): Promise<SQSBatchResponse> {
  const VisibilityTimeout = record && (await attempt(record));
  if (!record || VisibilityTimeout === undefined) return { batchItemFailures: [] };
  const { receiptHandle: ReceiptHandle, messageId: itemIdentifier } = record;
  await queue.send(new ChangeMessageVisibilityCommand({ QueueUrl, ReceiptHandle, VisibilityTimeout }));
  return { batchItemFailures: [{ itemIdentifier }] };
}

/** @returns the pause before the next attempt, in seconds; undefined if none is needed */
async function attempt({ body, attributes }: SQSRecord): Promise<number | undefined> {
  const event = JSON.parse(body) as MessageSent;
  const attempts = Number(attributes.ApproximateReceiveCount);
  const isLast = attempts >= Number(MAX_ATTEMPTS);
  try {
    if (await readFrozenAt(event.account)) return maxPause;
    await deliverMessage(event, { isLast });
    return undefined;
  } catch (error) {
    const { account, id, channel } = event;
    const undelivered = error instanceof UndeliveredError ? error : undefined;
    const kind = undelivered?.isRefusedSender ? logEvents.senderRefused : logEvents.deliveryFailed;
    const why = undelivered ? { reason: undelivered.message } : loggedError(error);
    console.error({ event: kind, account, channel, id, ...why });
    // After any other error, the message may have been sent but not stored as sent: this waits for Meta's webhook.
    const seconds = Math.max(2 ** attempts, undelivered?.pause ?? webhookTime);
    return isLast ? 0 : Math.min(seconds, maxPause);
  }
}

export const handler = maskedFailures(deliver);
