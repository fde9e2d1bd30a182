import { ChangeMessageVisibilityCommand, SQSClient } from "@aws-sdk/client-sqs";
import type { SQSBatchResponse, SQSEvent, SQSRecord } from "aws-lambda";
import { deliverMessage, type MessageSent } from "../shared/channels/deliver-message.ts";
import { UndeliveredError, webhookTime } from "../shared/channels/graph-api.ts";
import * as logEvents from "../shared/logging/log-events.ts";
import { loggedError } from "../shared/logging/logged-error.ts";
import { maskedFailures } from "../shared/logging/masked-failures.ts";

const { DELIVERIES_URL: QueueUrl = "", MAX_ATTEMPTS = "" } = process.env;

const queue = new SQSClient({
  requestHandler: { connectionTimeout: 1000, requestTimeout: 2000 },
  // The local run has no URLs of queues.
  useQueueUrlAsEndpoint: false,
});

/** The longest pause between two attempts, in seconds. */
const maxPause = 900;

/**
 * Delivers a message of a channel from the queue, which passes one at a time. While it is retried, it holds up those of its
 * conversation, and no others.
 */
async function deliver({ Records: [record] }: SQSEvent): Promise<SQSBatchResponse> {
  if (!record || (await attempt(record))) return { batchItemFailures: [] };
  return { batchItemFailures: [{ itemIdentifier: record.messageId }] };
}

/** @returns whether no other attempt is needed */
async function attempt({ body, attributes, receiptHandle }: SQSRecord): Promise<boolean> {
  const event = JSON.parse(body) as MessageSent;
  const attempts = Number(attributes.ApproximateReceiveCount);
  const isLast = attempts >= Number(MAX_ATTEMPTS);
  try {
    await deliverMessage(event, { isLast });
    return true;
  } catch (error) {
    const { account, id, channel } = event;
    const undelivered = error instanceof UndeliveredError ? error : undefined;
    const kind = undelivered?.isRefusedSender ? logEvents.senderRefused : logEvents.deliveryFailed;
    const why = undelivered ? { reason: undelivered.message } : loggedError(error);
    console.error({ event: kind, account, channel, id, ...why });
    // Of another error, the message may have been sent, and could not be stored.
    const pause = Math.max(2 ** attempts, undelivered?.pause ?? webhookTime);
    const VisibilityTimeout = isLast ? 0 : Math.min(pause, maxPause);
    await queue.send(
      new ChangeMessageVisibilityCommand({ QueueUrl, ReceiptHandle: receiptHandle, VisibilityTimeout }),
    );
    return false;
  }
}

export const handler = maskedFailures(deliver);
