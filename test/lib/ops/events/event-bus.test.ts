import {
  DescribeEventBusCommand,
  EventBridgeClient,
  PutEventsCommand,
  type PutEventsRequestEntry,
} from "@aws-sdk/client-eventbridge";
import { ulid } from "ulid";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { openEventBus } from "../../../../lib/ops/events/event-bus.ts";
import { eventSchemas, type ServiceEvent } from "../../../../shared/domain/event-schemas.ts";
import { createdAt } from "../../../../shared/ids.ts";
import { validateDetail } from "../../../support/event-validators.ts";
import { mockClient } from "../../../support/mocked-client.ts";

const eventBridge = mockClient(EventBridgeClient);

beforeEach(() => {
  vi.useFakeTimers({ toFake: ["Date"], now: 0 });
  eventBridge.reset();
  eventBridge.on(DescribeEventBusCommand).resolves({});
});
afterEach(() => void vi.useRealTimers());

/** A wait that moves the clock. */
const wait = async (milliseconds: number) => void vi.setSystemTime(Date.now() + milliseconds + 1);
const open = () => openEventBus("events-dev", wait);

const messages = Array.from({ length: 10 }, () => {
  const id = `msg_${ulid(1_700_000_000_000)}`;
  return {
    ...{ type: "message.sent", version: 1, id, account: "acme", leadId: "lead_1", conversationId: "conv_1" },
    ...{ channel: "whatsapp", message: "Hello", createdAt: createdAt(id) },
  } satisfies ServiceEvent;
});
const ids = messages.map(({ id }) => id);

/** The entries of each call. */
const calls = (): PutEventsRequestEntry[][] =>
  eventBridge.commandCalls(PutEventsCommand).map(({ args }) => args[0].input.Entries ?? []);
const idsOf = (entries: readonly PutEventsRequestEntry[]) =>
  entries.map(({ Detail = "" }) => (JSON.parse(Detail) as ServiceEvent).id);

const taken = { EventId: "1" };
const failed = (ErrorCode: string) => ({ ErrorCode, ErrorMessage: "on purpose" });

test("an event is put as the pipe puts it, but for the mark", async () => {
  eventBridge.on(PutEventsCommand).resolves({ FailedEntryCount: 0, Entries: messages.map(() => taken) });
  const put = await open();
  await put(messages);
  expect(calls()).toEqual([
    messages.map((message) => ({
      EventBusName: "events-dev",
      Source: "leads-and-conversations",
      DetailType: "message.sent",
      Detail: JSON.stringify({ ...message, repeated: true }),
    })),
  ]);
  expect(
    messages.map((message): ServiceEvent => ({ ...message, repeated: true })).flatMap(validateDetail),
  ).toEqual([]);
});

test.each(Object.entries(eventSchemas))("the schema of %s has the mark", (_, { properties }) => {
  expect(properties.repeated).toEqual({ type: "boolean" });
});

test("only the events that the bus did not take are put again", async () => {
  const answer = (...bad: number[]) => ({
    FailedEntryCount: bad.length,
    Entries: messages.map((_, i) => (bad.includes(i) ? failed("ThrottlingException") : taken)),
  });
  eventBridge
    .on(PutEventsCommand)
    .resolvesOnce(answer(2, 7))
    .rejectsOnce(Object.assign(new Error("slow down"), { name: "ThrottlingException" }))
    .resolvesOnce({ FailedEntryCount: 1, Entries: [taken, failed("InternalFailure")] })
    .resolvesOnce({ FailedEntryCount: 0, Entries: [taken] });
  const put = await open();
  await put(messages);
  expect(calls().map(idsOf)).toEqual([ids, [ids[2], ids[7]], [ids[2], ids[7]], [ids[7]]]);
});

test("a bus that takes an event at no time is given up after a minute", async () => {
  eventBridge
    .on(PutEventsCommand)
    .resolves({ FailedEntryCount: 1, Entries: [failed("ThrottlingException")] });
  const put = await open();
  await expect(put(messages.slice(0, 1))).rejects.toThrow(
    "The event bus events-dev did not take 1 events (ThrottlingException).",
  );
  expect(Date.now()).toBeGreaterThan(50_000);
});

test("an event that the bus refuses is not put again", async () => {
  eventBridge
    .on(PutEventsCommand)
    .resolves({ FailedEntryCount: 2, Entries: [failed("ThrottlingException"), failed("MalformedDetail")] });
  const put = await open();
  await expect(put(messages.slice(0, 2))).rejects.toThrow(
    "did not take 2 events (ThrottlingException, MalformedDetail).",
  );
  expect(calls()).toHaveLength(1);
});

test("a bus that does not exist is noticed before events are put, because EventBridge would drop them", async () => {
  const notFound = Object.assign(new Error("Event bus events-dev does not exist."), {
    name: "ResourceNotFoundException",
  });
  eventBridge.on(DescribeEventBusCommand).rejects(notFound);
  await expect(open()).rejects.toThrow("There is no event bus events-dev in the region local.");
});

test("a bus that cannot be reached is one sentence", async () => {
  eventBridge
    .on(DescribeEventBusCommand)
    .rejects(Object.assign(new Error("refused"), { code: "ECONNREFUSED" }));
  await expect(open()).rejects.toThrow("The event bus events-dev cannot be reached or is busy (refused).");
});
