import { EventBridgeClient, PutEventsCommand, type PutEventsResultEntry } from "@aws-sdk/client-eventbridge";
import { SendMessageBatchCommand, SendMessageCommand, SQSClient } from "@aws-sdk/client-sqs";
import type { DynamoDBRecord } from "aws-lambda";
import { beforeEach, expect, test, vi } from "vitest";
import type { ServiceEvent } from "../../../shared/domain/event-schemas.ts";
import { messageKey } from "../../../shared/dynamodb/keys.ts";
import { createdAt, newId } from "../../../shared/ids.ts";
import { lambdaContext } from "../../support/requests/events.ts";
import { mockClient } from "../../support/tables/mocked-client.ts";
import { storedLead } from "../../support/tables/stored.ts";
import { streamRecord } from "../../support/tables/stream-record.ts";

vi.stubEnv("EVENT_BUS_NAME", "probes");
vi.stubEnv("FAILURES_URL", "https://sqs.example.com/failures");
vi.stubEnv("DELIVERIES_URL", "https://sqs.example.com/deliveries.fifo");
const { handler } = await import("../../../functions/publish-events.ts");
vi.unstubAllEnvs();

const bus = mockClient(EventBridgeClient);
const queue = mockClient(SQSClient);
let logged: unknown[];
/** The events that the bus has accepted, in order. */
let taken: ServiceEvent[];

/** @param fault returns the error code of an event that the bus refuses, or throws the error of the whole call */
const respond = (fault: (event: ServiceEvent) => string | undefined) =>
  bus.on(PutEventsCommand).callsFake(({ Entries }: PutEventsCommand["input"]) => ({
    Entries: Entries?.map(({ Detail = "" }): PutEventsResultEntry => {
      const event = JSON.parse(Detail) as ServiceEvent;
      const ErrorCode = fault(event);
      if (ErrorCode) return { ErrorCode, ErrorMessage: "a secret" };
      taken.push(event);
      return { EventId: "1" };
    }),
  }));

/** A call for which the client throws. */
const failed = () => Object.assign(new Error("a secret"), { name: "ThrottlingException" });

beforeEach(() => {
  bus.reset();
  queue.reset();
  taken = [];
  logged = [];
  respond(() => undefined);
  vi.spyOn(console, "error").mockImplementation((line) => void logged.push(line));
});

const insert = (item: object) => streamRecord(undefined, { ...item });

const aLead = () => insert(storedLead(newId("lead")));

const conversation = () => ({ leadId: newId("lead"), conversationId: newId("conv") });

function aMessage(of: ReturnType<typeof conversation>, fields: object = {}): DynamoDBRecord {
  const id = newId("msg");
  const message = { ...of, id, channel: "web", direction: "outbound", message: "Hello", ...fields };
  return insert({ ...messageKey("acme", of.conversationId, id), ...message, createdAt: createdAt(id) });
}

const idOf = (record: DynamoDBRecord | undefined) => record?.dynamodb?.NewImage?.id?.S;
const deliver = async (Records: DynamoDBRecord[], remaining = 60_000) =>
  (await handler({ Records }, lambdaContext(remaining))).batchItemFailures.map(
    ({ itemIdentifier }) => itemIdentifier,
  );
const numberOf = (record: DynamoDBRecord | undefined) => record?.dynamodb?.SequenceNumber;
const calls = () => bus.commandCalls(PutEventsCommand).map(({ args: [{ input }] }) => input.Entries ?? []);

test("an event is put on the bus in the form that connectors expect", async () => {
  const of = conversation();
  const record = aMessage(of);
  expect(await deliver([record])).toEqual([]);
  const [[entry] = []] = calls();
  expect(entry).toEqual({
    EventBusName: "probes",
    Source: "leads-and-conversations",
    DetailType: "message.sent",
    Detail: JSON.stringify({
      ...{ type: "message.sent", version: 1, id: idOf(record), account: "acme" },
      ...{ ...of, channel: "web", direction: "outbound", message: "Hello" },
      createdAt: taken[0]?.createdAt,
    }),
  });
});

test("a call has at most ten events, and at most one event of each lead", async () => {
  const leads = Array.from({ length: 12 }, aLead);
  const of = conversation();
  const messages = Array.from({ length: 3 }, () => aMessage(of));
  const records = [...leads, ...messages];
  expect(await deliver(records)).toEqual([]);
  expect(calls().map(({ length }) => length)).toEqual([10, 3, 1, 1]);
  expect(taken.map(({ id }) => id)).toEqual(records.map(idOf));
});

test("messages on WhatsApp and Instagram are queued in the order of their conversation, in characters that SQS accepts", async () => {
  queue.on(SendMessageBatchCommand).resolves({ Successful: [] });
  const of = conversation();
  const channel = "whatsapp";
  const records = ["1", "2\uFFFF", "3"].map((message) => aMessage(of, { message, channel }));
  const fromPhone = aMessage(of, { channel, delivery: "sent", providerId: "wamid.1" });
  expect(await deliver([aMessage(conversation()), aLead(), fromPhone, ...records])).toEqual([]);
  const batches = queue.commandCalls(SendMessageBatchCommand);
  const queued = batches.flatMap(({ args: [{ input }] }) => input.Entries);
  expect(queued.map((entry) => [entry?.MessageGroupId, entry?.MessageDeduplicationId])).toEqual(
    records.map((record) => [of.conversationId, idOf(record)]),
  );
  expect(queued.map((entry) => JSON.parse(entry?.MessageBody ?? "").message)).toEqual(["1", "2\uFFFF", "3"]);
  expect(queued[1]?.MessageBody).not.toContain("\uFFFF");
});

test.each([
  [true, [], ["event refused"]],
  [false, [0], ["events failed"]],
])("a message that the queue refuses is retried, unless the message is at fault: %s", async (SenderFault, again, lines) => {
  const record = aMessage(conversation(), { channel: "instagram" });
  const fault = { Id: idOf(record), Code: "InvalidMessageContents", SenderFault };
  queue.on(SendMessageBatchCommand).resolves({ Successful: [], Failed: [fault] });
  expect(await deliver([record])).toEqual(again.map(() => numberOf(record)));
  expect(logged).toEqual(lines.map((event) => expect.objectContaining({ event })));
  expect([queue.commandCalls(SendMessageCommand).length, taken.length]).toEqual(
    SenderFault ? [1, 1] : [0, 0],
  );
});

const passingFaults = ["ThrottlingException", "InternalFailure", "AccessDeniedException", "SomethingNew"];
test.each(
  passingFaults,
)("an entry that fails with %s is retried with all entries after it, and no later call is made", async (ErrorCode) => {
  const records = Array.from({ length: 12 }, aLead);
  respond(({ id }) => (id === idOf(records[4]) ? ErrorCode : undefined));
  expect(await deliver(records)).toEqual([numberOf(records[4])]);
  expect(calls()).toHaveLength(1);
  expect(logged).toEqual([{ event: "events failed", code: ErrorCode }]);
});

test("the events of a failed call are retried with all events after them, and their contents are not logged", async () => {
  const records = Array.from({ length: 15 }, aLead);
  respond(() => {
    if (calls().length > 1) throw failed();
    return undefined;
  });
  expect(await deliver(records)).toEqual([numberOf(records[10])]);
  expect(logged).toMatchObject([{ event: "events failed", name: "ThrottlingException" }]);
  expect(JSON.stringify(logged)).not.toContain("secret");
});

const refusals = ["MalformedDetail", "InvalidArgument"];
test.each(
  refusals,
)("an event that is refused for good with %s does not block others: its position is queued, and its id logged", async (ErrorCode) => {
  const records = Array.from({ length: 12 }, aLead);
  const refused = records[2];
  respond(({ id }) => (id === idOf(refused) ? ErrorCode : undefined));
  Object.assign(refused ?? {}, { eventSourceARN: "arn:stream" });
  expect(await deliver(records)).toEqual([]);
  expect(taken.map(({ id }) => id)).toEqual(
    records.filter((record) => record !== refused).map((record) => idOf(record)),
  );
  const [sent] = queue.commandCalls(SendMessageCommand).map(({ args: [{ input }] }) => input);
  const time = expect.stringMatching(/^20\d\d-\d\d-\d\dT\d\d:\d\d:\d\d.000Z$/);
  expect(sent?.QueueUrl).toBe("https://sqs.example.com/failures");
  expect(JSON.parse(sent?.MessageBody ?? "")).toEqual({
    DDBStreamBatchInfo: {
      startSequenceNumber: numberOf(refused),
      endSequenceNumber: numberOf(refused),
      approximateArrivalOfFirstRecord: time,
      approximateArrivalOfLastRecord: time,
      batchSize: 1,
      streamArn: "arn:stream",
    },
  });
  expect(logged).toEqual([
    { event: "event refused", type: "lead.created", id: idOf(refused), code: ErrorCode },
  ]);
});

test("a refused event whose position cannot be queued is retried", async () => {
  const records = Array.from({ length: 3 }, aLead);
  queue.on(SendMessageCommand).rejects(new Error("No."));
  respond(({ id }) => (id === idOf(records[1]) ? "MalformedDetail" : undefined));
  expect(await deliver(records)).toEqual([numberOf(records[1])]);
});

test("events for which no time is left are retried", async () => {
  const records = Array.from({ length: 3 }, aLead);
  expect(await deliver(records, 20_000)).toEqual([numberOf(records[0])]);
  expect(calls()).toEqual([]);
});
