import { EventBridgeClient, PutEventsCommand } from "@aws-sdk/client-eventbridge";
import { SendMessageBatchCommand, SendMessageCommand, SQSClient } from "@aws-sdk/client-sqs";
import type { DynamoDBRecord } from "aws-lambda";
import * as logEvents from "../logging/log-events.ts";
import { loggedError } from "../logging/logged-error.ts";
import { isMetaChannel } from "../meta-channels.ts";
import type { ServiceEvent } from "./event-schemas.ts";
import { eventSource, toEvents } from "./events.ts";

// Without a name, events would go to the default bus of the AWS account. An empty name is refused.
const { EVENT_BUS_NAME: EventBusName = "", FAILURES_URL: QueueUrl = "", DELIVERIES_URL = "" } = process.env;

const requestHandler = { connectionTimeout: 1000, requestTimeout: 6000, throwOnRequestTimeout: true };
const bus = new EventBridgeClient({ requestHandler, maxAttempts: 2 });
// The local run has no URLs of queues.
const queue = new SQSClient({ requestHandler, maxAttempts: 2, useQueueUrlAsEndpoint: false });

/** The most entries of one call. Ten of the largest events stay below the 256 KB that a call may have. */
const maxCallEntries = 10;

/** EventBridge's error codes for an entry that it never accepts. Any other error may pass, or an operator may correct it. */
const refusals: readonly (string | undefined)[] = ["InvalidArgument", "MalformedDetail"];

interface Publication {
  readonly event: ServiceEvent;
  readonly record: DynamoDBRecord;
}

/**
 * Publishes the events of some records of the stream, in the order of the stream.
 *
 * @param isOver whether no time is left for another call
 * @returns the first record that must be retried, together with all records behind it
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
 * Divides events into calls with at most one event of each lead: EventBridge continues after an entry that fails, and no
 * event of a lead may overtake another one.
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
 * Queues messages of the channels that the service delivers itself, in order within each conversation, except messages that
 * were sent already, for example on the phone. A message that is queued again with a retried batch is recognized: for five
 * minutes by its id in the queue, and later by its stored state.
 *
 * @throws Error if the queue has not accepted a message
 */
async function queueDeliveries(call: readonly Publication[]): Promise<void> {
  const messages = call.flatMap(({ event }) =>
    event.type === "message.sent" && isMetaChannel(event.channel) && event.delivery === undefined
      ? [event]
      : [],
  );
  if (DELIVERIES_URL === "" || messages.length === 0) return;
  const Entries = messages.map((event) => ({
    Id: event.id,
    // SQS refuses these characters, because XML does not have them.
    MessageBody: JSON.stringify(event).replaceAll(
      /[\uFFFE\uFFFF]/g,
      (one) => `\\u${one.charCodeAt(0).toString(16)}`,
    ),
    MessageDeduplicationId: event.id,
    MessageGroupId: event.conversationId,
  }));
  const { Failed = [] } = await queue.send(
    new SendMessageBatchCommand({ QueueUrl: DELIVERIES_URL, Entries }),
  );
  for (const { Id, Code, SenderFault } of Failed) {
    const refused = call.find(({ event }) => event.id === Id);
    if (!SenderFault || !refused) throw new Error(`The queue did not accept a message: ${Code}.`);
    await setAside(refused, Code);
  }
}

/** @returns the first of these events that was not accepted and must be retried */
async function put(call: readonly Publication[]): Promise<Publication | undefined> {
  let [current] = call;
  try {
    await queueDeliveries(call);
    const Entries = call.map(({ event }) => ({
      EventBusName,
      Source: eventSource,
      DetailType: event.type,
      Detail: JSON.stringify(event),
    }));
    const { Entries: results = [] } = await bus.send(new PutEventsCommand({ Entries }));
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

/** Queues the stream position of a refused event, in the form that Lambda uses for failed batches. */
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
