import { readdir, readFile, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { setImmediate } from "node:timers/promises";
import { expect, onTestFinished, test } from "vitest";
import { type EventBusOptions, openEventBus } from "../../../../lib/local/streams/event-bus.ts";
import { temporaryDirectory } from "../../../support/temporary-directory.ts";
import { startConnector } from "../support/connector.ts";

const parameters = { source: "probes", typeField: "type" };
const sent = (id: string) => ({ type: "message.sent", id, message: "a secret" });

/** A clock that only the test advances. */
function createClock() {
  let time = Date.parse("2026-11-25T08:00:00.500Z");
  let waits: { readonly until: number; readonly end: () => void }[] = [];
  return {
    now: () => time,
    /** How many calls wait. */
    waits: () => waits.length,
    wait: (milliseconds: number) =>
      milliseconds <= 0
        ? Promise.resolve()
        : new Promise<void>((end) => waits.push({ until: time + milliseconds, end })),
    advance(milliseconds: number) {
      time += milliseconds;
      const { due = [], later = [] } = Object.groupBy(waits, ({ until }) =>
        until <= time ? "due" : "later",
      );
      waits = later;
      for (const { end } of due) end();
    },
  };
}

/** Requests take real time, which the clock does not have. */
async function until(holds: () => boolean): Promise<void> {
  while (!holds()) await setImmediate();
}

function open(eventsUrl: string | undefined, options: Partial<EventBusOptions> = {}) {
  const log: string[] = [];
  const clock = createClock();
  const bus = openEventBus({ eventsUrl, log: (line) => log.push(line), ...clock, ...options });
  onTestFinished(() => bus.stop());
  return { ...bus, clock, log, putMessages: (...ids: string[]) => bus.put(parameters, ids.map(sent)) };
}

test("an event is posted in EventBridge's format, and again with the same id", async () => {
  const connector = await startConnector((_, calls) => (calls === 1 ? 503 : 204));
  const { clock, log, putMessages } = open(connector.url);
  putMessages("msg_1");
  await until(() => log.length === 1);
  clock.advance(100);
  await until(() => log.length === 2);
  const event = {
    version: "0",
    id: expect.stringMatching(/^[\da-f-]{36}$/),
    "detail-type": "message.sent",
    source: "probes",
    account: "000000000000",
    time: "2026-11-25T08:00:00Z",
    region: "local",
    resources: [],
    detail: sent("msg_1"),
  };
  expect(connector.received).toEqual([event, event]);
  expect(connector.received[1]?.id).toBe(connector.received[0]?.id);
  expect(log).toEqual([
    "[events] message.sent msg_1 failed and is retried: the connector responded with 503",
    "[events] message.sent msg_1",
  ]);
});

test("while one message is refused for ten minutes, 500 others are delivered without delay", async () => {
  let refusing = true;
  const connector = await startConnector(({ detail }) => (refusing && detail.id === "refused" ? 500 : 200));
  const { clock, putMessages } = open(connector.url);
  const start = clock.now();
  putMessages("refused");
  const delays: number[] = [];
  for (let i = 0; i < 500; i++) {
    await until(() => clock.waits() === 1);
    clock.advance(1190);
    await until(() => clock.waits() === 1);
    clock.advance(10);
    await until(() => clock.waits() === 1);
    const putAt = clock.now();
    putMessages(`msg_${i}`);
    await until(() => connector.delivered.has(`msg_${i}`));
    delays.push(clock.now() - putAt);
  }
  expect(clock.now() - start).toBe(600_000);
  expect(Math.max(...delays)).toBe(0);
  const attempts = connector.received.filter(({ detail }) => detail.id === "refused").length;
  expect(attempts).toBeGreaterThan(60);
  refusing = false;
  await until(() => clock.waits() === 1);
  clock.advance(10_000);
  await until(() => connector.delivered.has("refused"));
});

test.each([[401], [409], [429], [500], [503]])("an event is retried after %i", async (status) => {
  const connector = await startConnector((_, calls) => (calls <= 2 ? status : 200));
  const { clock, log, putMessages } = open(connector.url);
  putMessages("msg_1");
  for (const delay of [100, 200]) {
    await until(() => clock.waits() === 1);
    clock.advance(delay);
  }
  await until(() => connector.delivered.has("msg_1"));
  expect(log[0]).toBe(
    `[events] message.sent msg_1 failed and is retried: the connector responded with ${status}`,
  );
});

test.each([[302], [400], [404]])("an event is given up after %i", async (status) => {
  const connector = await startConnector(() => status);
  const { log, putMessages } = open(connector.url);
  putMessages("msg_1");
  await until(() => log.length > 0);
  expect(log).toEqual([
    `[events] message.sent msg_1 is given up, on AWS to the rule's dead-letter queue: the connector responded with ${status}`,
  ]);
});

test("an event without a response is retried for 24 hours", async () => {
  const connector = await startConnector(() => 200);
  connector.stop();
  const { clock, log, putMessages } = open(connector.url);
  putMessages("msg_1");
  await until(() => clock.waits() === 1);
  clock.advance(24 * 3_600_000 - 1000);
  await until(() => clock.waits() === 1);
  clock.advance(1000);
  await until(() => log.length === 2);
  expect(log).toEqual([
    expect.stringMatching(
      /^\[events\] message\.sent msg_1 failed and is retried: the connector did not respond \(.+\)$/,
    ),
    expect.stringMatching(
      /^\[events\] message\.sent msg_1 is given up, .+ the connector did not respond \(.+\)$/,
    ),
  ]);
});

test("what was not delivered is kept for the next run, for its owner only", async () => {
  const directory = join(await temporaryDirectory(), "events");
  let failing = true;
  const connector = await startConnector(({ detail }) => (failing && detail.id === "msg_2" ? 503 : 200));
  const first = open(connector.url, { directory });
  first.putMessages("msg_1", "msg_2");
  await until(() => first.clock.waits() > 0 || first.log.length > 0);
  first.clock.advance(4);
  await until(() => first.log.length === 2);
  first.stop();
  const [name = "", ...others] = await readdir(directory);
  expect(others).toEqual([]);
  expect((await stat(directory)).mode & 0o777).toBe(0o700);
  expect(JSON.parse(await readFile(join(directory, name), "utf8"))).toEqual(connector.received[1]);
  // A run that was killed had not taken this event: the stream delivers it again.
  await writeFile(join(directory, "half.json"), '{"id":');

  failing = false;
  connector.received.length = 0;
  const second = open(connector.url, { directory });
  await until(() => second.log.length > 0);
  expect(second.log).toEqual(["[events] message.sent msg_2"]);
  expect(connector.received.map(({ detail }) => detail.id)).toEqual(["msg_2"]);
  expect(await readdir(directory)).toEqual([]);
});

test("at most 300 events a second are posted", async () => {
  const connector = await startConnector(() => 200);
  const { clock, putMessages } = open(connector.url);
  putMessages(...Array.from({ length: 601 }, (_, index) => `msg_${index}`));
  clock.advance(1000);
  await until(() => connector.received.length === 301);
  expect(clock.waits()).toBe(300);
});

test("without a URL, events are logged and nothing is kept", async () => {
  const directory = await temporaryDirectory();
  const { log, put, putMessages } = open(undefined, { directory });
  for (const nothing of [[], null, ""]) put(parameters, nothing);
  putMessages("msg_1", "msg_2");
  expect(log).toEqual(["[events] message.sent msg_1", "[events] message.sent msg_2"]);
  expect(await readdir(directory)).toEqual([]);
});
