import { expect, test } from "vitest";
import { putOnBus } from "../../../../lib/local/streams/event-bus.ts";
import { startConnector } from "../support/connector.ts";

const bus = { source: "probes", typeField: "type" };
const sent = (id: string) => ({ type: "message.sent", id, message: "a secret" });

test("an event is posted in EventBridge's format", async () => {
  const connector = await startConnector(() => 204);
  const log: string[] = [];
  await putOnBus(bus, [sent("msg_1"), sent("msg_2")], {
    eventsUrl: connector.url,
    log: (line) => log.push(line),
  });
  expect(connector.received).toEqual(
    ["msg_1", "msg_2"].map((id) => ({
      version: "0",
      id: expect.stringMatching(/^[\da-f-]{36}$/),
      "detail-type": "message.sent",
      source: "probes",
      account: "000000000000",
      time: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/),
      region: "local",
      resources: [],
      detail: sent(id),
    })),
  );
  expect(log).toEqual(["[events] message.sent msg_1", "[events] message.sent msg_2"]);
});

test("an event that the connector rejects fails, and the events after it are not attempted", async () => {
  const connector = await startConnector((_, calls) => (calls === 2 ? 400 : 200));
  const log: string[] = [];
  const put = () =>
    putOnBus(bus, ["msg_1", "msg_2", "msg_3"].map(sent), {
      eventsUrl: connector.url,
      log: (line) => log.push(line),
    });
  await expect(put()).rejects.toThrow("the connector responded with 400");
  expect(connector.received.map(({ detail }) => detail.id)).toEqual(["msg_1", "msg_2"]);
  connector.stop();
  await expect(put()).rejects.toThrow("the connector did not respond");
  expect(log).toEqual([
    "[events] message.sent msg_1",
    "[events] message.sent msg_2 failed and is retried: the connector responded with 400",
    expect.stringMatching(
      /^\[events\] message\.sent msg_1 failed and is retried: the connector did not respond \(.+\)$/,
    ),
  ]);
});

test.each([[[]], [null], [""]])("a function that returns %j puts nothing on the bus", async (details) => {
  const log: string[] = [];
  await putOnBus(bus, details, { eventsUrl: undefined, log: (line) => log.push(line) });
  expect(log).toEqual([]);
});
