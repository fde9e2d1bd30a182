import { EventBridgeClient, PutEventsCommand } from "@aws-sdk/client-eventbridge";
import { SendMessageBatchCommand, SendMessageCommand, SQSClient } from "@aws-sdk/client-sqs";
import type { DynamoDBRecord } from "aws-lambda";
import * as logEvents from "../logging/log-events.ts";
import { loggedError } from "../logging/logged-error.ts";
import { isMetaChannel } from "../meta-channels.ts";
import type { ServiceEvent } from "./event-schemas.ts";
import { eventSource, toEvents } from "./events.ts";

// Without a name, events would go to the bus that every AWS account has. An empty one is refused.
const {
  EVENT_BUS_NAME: EventBusName = "",
  FAILURES_URL: QueueUrl = "",
  DELIVERIES_URL: deliveriesUrl = "",
} = process.env;

const requestHandler = { connectionTimeout: 1000, requestTimeout: 6000, throwOnRequestTimeout: true };
const bus = new EventBridgeClient({ requestHandler, maxAttempts: 2 });
// The local run has no URLs of queues.
const queue = new SQSClient({ requestHandler, maxAttempts: 2, useQueueUrlAsEndpoint: false });

/** The most entries of one call. Ten of the largest events have less than its 256 KB. */
const maxCallEntries = 10;

/** What EventBridge says of an entry that it never takes. Everything else may pass, or be corrected by an operator. */
const refusals: readonly (string | undefined)[] = ["InvalidArgument", "MalformedDetail"];

interface Publication {
  readonly event: ServiceEvent;
  readonly record: DynamoDBRecord;
}

/**
 * Publishes the events of some records of the stream, in its order.
 *
 * @param isOver whether no time is left for another call
 * @returns the first record that has to be delivered again, with all behind it
 */
export async function publishEvents(records: readonly DynamoDBRecord[], isOver: () => boolean) {
  const publications = records.flatMap((record) => toEvents([record]).map((event) => ({ event, record })));
  for (const call of toCalls(publications)) {
    const failed = isOver() ? call[0] : await put(call);
    if (failed) return failed.record;
  }
  return undefined;
}

/**
 * Divides events into calls, each with one event of a lead: EventBridge goes on behind an entry that fails, and no event of a
 * lead may overtake another.
 */
function toCalls(publications: readonly Publication[]): Publication[][] {
  const calls: Publication[][] = [];
  for (const publication of publications) {
    const call = calls.at(-1);
    const isOfSameLead = ({ event }: Publication) => leadOf(event) === leadOf(publication.event);
    if (call && call.length < maxCallEntries && !call.some(isOfSameLead)) call.push(publication);
    else calls.push([publication]);
  }
  return calls;
}

const leadOf = (event: ServiceEvent) => ("leadId" in event ? event.leadId : event.id);

/**
 * Queues the messages of channels that the service delivers itself, in the order of their conversations, but for what was
 * written on the phone and is sent. One that is queued again with the rest of its batch is the same: by its id in the queue for
 * five minutes, and later by its stored state.
 *
 * @throws Error if one was not taken
 */
async function queueDeliveries(call: readonly Publication[]): Promise<void> {
  const messages = call.flatMap(({ event }) =>
    event.type === "message.sent" && isMetaChannel(event.channel) && event.delivery === undefined
      ? [event]
      : [],
  );
  if (deliveriesUrl === "" || messages.length === 0) return;
  const Entries = messages.map((event) => ({
    Id: event.id,
    // Characters that XML does not have, and so SQS refuses.
    MessageBody: JSON.stringify(event).replaceAll(
      /[\uFFFE\uFFFF]/g,
      (one) => `\\u${one.charCodeAt(0).toString(16)}`,
    ),
    MessageDeduplicationId: event.id,
    MessageGroupId: event.conversationId,
  }));
  const { Failed = [] } = await queue.send(new SendMessageBatchCommand({ QueueUrl: deliveriesUrl, Entries }));
  for (const { Id, Code, SenderFault } of Failed) {
    const refused = call.find(({ event }) => event.id === Id);
    if (!SenderFault || !refused) throw new Error(`The queue has not taken a message: ${Code}.`);
    await setAside(refused, Code);
  }
}

/** @returns the first of these events that was not taken, and may be later */
async function put(call: readonly Publication[]): Promise<Publication | undefined> {
  let [current] = call;
  try {
    await queueDeliveries(call);
    const { Entries: results = [] } = await bus.send(
      new PutEventsCommand({
        Entries: call.map(({ event }) => ({
          EventBusName,
          Source: eventSource,
          DetailType: event.type,
          Detail: JSON.stringify(event),
        })),
      }),
    );
    for (const [index, publication] of call.entries()) {
      current = publication;
      const { EventId, ErrorCode } = results[index] ?? {};
      if (EventId) continue;
      if (!refusals.includes(ErrorCode)) {
        console.error({ event: logEvents.eventsFailed, code: ErrorCode });
        return publication;
      }
      await setAside(publication, ErrorCode);
    }
    return undefined;
  } catch (error) {
    console.error({ event: logEvents.eventsFailed, ...loggedError(error) });
    return current;
  }
}

/** Queues the position of a refused event, in the form in which Lambda queues those of failed batches. */
async function setAside({ event: { type, id }, record }: Publication, code: string | undefined) {
  console.error({ event: logEvents.eventRefused, type, id, code });
  const { SequenceNumber, ApproximateCreationDateTime = 0 } = record.dynamodb ?? {};
  const arrival = new Date(ApproximateCreationDateTime * 1000).toISOString();
  const DDBStreamBatchInfo = {
    startSequenceNumber: SequenceNumber,
    endSequenceNumber: SequenceNumber,
    approximateArrivalOfFirstRecord: arrival,
    approximateArrivalOfLastRecord: arrival,
    batchSize: 1,
    streamArn: record.eventSourceARN,
  };
  await queue.send(new SendMessageCommand({ QueueUrl, MessageBody: JSON.stringify({ DDBStreamBatchInfo }) }));
}
