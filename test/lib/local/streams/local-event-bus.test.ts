import { createServer } from "node:http";
import { json } from "node:stream/consumers";
import { expect, onTestFinished, test } from "vitest";
import { listen } from "../../../../lib/local/listen.ts";
import { openLocalEventBus } from "../../../../lib/local/streams/local-event-bus.ts";
import { eventSource, toEvents } from "../../../../shared/domain/events.ts";
import { newId } from "../../../../shared/ids.ts";
import { compareEvent } from "../../../support/requests/document.ts";
import { storedLead } from "../../../support/tables/stored.ts";
import { streamRecord } from "../../../support/tables/stream-record.ts";

/** The fields of an event posted by EventBridge that these tests read. */
interface PostedEvent {
  readonly id: string;
  readonly "detail-type": string;
  readonly detail: { readonly id: string };
}

/** Starts a channel's connector, which responds with the status that `respond` returns. */
async function startConnector(respond: (event: PostedEvent, calls: number) => number) {
  const received: PostedEvent[] = [];
  /** The ids of the accepted events. */
  const delivered = new Set<string>();
  const server = createServer(async (request, response) => {
    const event = (await json(request)) as PostedEvent;
    received.push(event);
    response.statusCode = respond(event, received.length);
    if (response.statusCode < 300) delivered.add(event.detail.id);
    response.end();
  });
  const { url, close } = await listen(server);
  onTestFinished(close);
  return { url: `${url}/events`, received, delivered, close };
}

const toEntry = (id: string) => ({
  ...{ Source: "probes", DetailType: "message.sent" },
  Detail: JSON.stringify({ id, message: "a secret" }),
});

function open(eventsUrl: string | undefined) {
  const log: string[] = [];
  const stopping = new AbortController();
  const { signal } = stopping;
  const { PutEvents: putEvents } = openLocalEventBus({ eventsUrl, log: (line) => log.push(line), signal });
  const stop = () => stopping.abort();
  onTestFinished(stop);
  return {
    putEvents,
    stop,
    log,
    putMessages: (...ids: string[]) => putEvents({ Entries: ids.map(toEntry) }),
  };
}

test("an event is posted in EventBridge's format, as the OpenAPI document promises, and retried with the same id", async () => {
  const connector = await startConnector((_, calls) => (calls === 1 ? 503 : 204));
  const { log, putEvents } = open(connector.url);
  const [detail] = toEvents([streamRecord(undefined, storedLead(newId("lead")))]);
  const entry = { Source: eventSource, DetailType: "lead.created", Detail: JSON.stringify(detail) };
  await putEvents({ Entries: [entry] });
  await expect.poll(() => log).toHaveLength(2);
  const event = {
    version: "0",
    id: expect.stringMatching(/^[\da-f-]{36}$/),
    "detail-type": "lead.created",
    source: eventSource,
    account: "000000000000",
    time: expect.stringMatching(/^20\d\d-\d\d-\d\dT\d\d:\d\d:\d\dZ$/),
    region: "local",
    resources: [],
    detail,
  };
  expect(connector.received).toEqual([event, event]);
  expect(connector.received.flatMap(compareEvent)).toEqual([]);
  expect(connector.received[1]?.id).toBe(connector.received[0]?.id);
  expect(log).toEqual([
    `[events] lead.created ${detail?.id} failed and is retried: the connector responded with 503`,
    `[events] lead.created ${detail?.id}`,
  ]);
});

test("an event that is refused again and again delays no other one", async () => {
  let refusing = true;
  const connector = await startConnector(({ detail }) => (refusing && detail.id === "refused" ? 500 : 200));
  const { putMessages } = open(connector.url);
  await putMessages("refused", "msg_1");
  expect([...connector.delivered]).toEqual(["msg_1"]);
  await putMessages("msg_2");
  expect([...connector.delivered]).toEqual(["msg_1", "msg_2"]);
  const attempts = () => connector.received.filter(({ detail }) => detail.id === "refused").length;
  await expect.poll(attempts).toBeGreaterThan(2);
  refusing = false;
  await expect.poll(() => connector.delivered.has("refused")).toBe(true);
});

test("an event is retried after a redirect, which is not followed", async () => {
  const connector = await startConnector(() => 302);
  const { log, putMessages } = open(connector.url);
  await putMessages("msg_1");
  const reason = "the connector responded with 302";
  expect(log).toEqual([`[events] message.sent msg_1 failed and is retried: ${reason}`]);
});

test("an event without a response is retried, until the run ends", async () => {
  const connector = await startConnector(() => 200);
  connector.close();
  const { log, putMessages, stop } = open(connector.url);
  await putMessages("msg_1");
  const failed =
    /^\[events\] message\.sent msg_1 failed and is retried: the connector did not respond \(.+\)$/;
  expect(log).toEqual([expect.stringMatching(failed)]);
  stop();
});

test("without a URL, events are logged", async () => {
  const { log, putMessages } = open(undefined);
  const id = expect.stringMatching(/^[\da-f-]{36}$/);
  expect(await putMessages("msg_1", "msg_2")).toEqual({
    FailedEntryCount: 0,
    Entries: [{ EventId: id }, { EventId: id }],
  });
  expect(log).toEqual(["[events] message.sent msg_1", "[events] message.sent msg_2"]);
});
