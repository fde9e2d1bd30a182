import { expect, onTestFinished, test } from "vitest";
import { startBusEndpoint } from "../../../../lib/local/streams/bus-endpoint.ts";
import { localConfig } from "../../../../lib/ops/common/options.ts";
import { openEventBus } from "../../../../lib/ops/events/event-bus.ts";
import type { ServiceEvent } from "../../../../shared/domain/event-schemas.ts";
import { startConnector } from "../support/connector.ts";

const event = (id: string): ServiceEvent => ({
  ...{ type: "lead.created", version: 1, id, account: "acme", createdAt: "2026-01-31T09:30:00.250Z" },
});

async function start(eventsUrl?: string) {
  const log: string[] = [];
  const { endpoint, close } = await startBusEndpoint({ eventsUrl, log: (line) => log.push(line) });
  onTestFinished(close);
  return { endpoint, log };
}

test("an operator's events reach the connector, and those that it rejects are put again", async () => {
  const connector = await startConnector(({ detail }, calls) =>
    detail.id === "lead_2" && calls <= 3 ? 500 : 200,
  );
  const { endpoint, log } = await start(connector.url);
  const put = await openEventBus("any", { ...localConfig, endpoint });
  await put(["lead_1", "lead_2", "lead_3"].map(event));
  const received = connector.received.map(({ detail }) => detail.id);
  expect([received.slice(0, 3).sort(), ...received.slice(3)]).toEqual([
    ["lead_1", "lead_2", "lead_3"],
    "lead_2",
  ]);
  expect(connector.delivered.get("lead_2")).toMatchObject({
    "detail-type": "lead.created",
    source: "leads-and-conversations",
    detail: { ...event("lead_2"), repeated: true },
  });
  expect(log.filter((line) => line.includes("failed"))).toHaveLength(1);
});

const target = { "x-amz-target": "AWSEvents.PutEvents" };
const body = JSON.stringify({
  Entries: [{ Source: "s", DetailType: "t", Detail: JSON.stringify(event("lead_1")) }],
});

test.each([
  ["a page of a browser", { ...target, origin: "http://127.0.0.1:3000" }, body],
  ["a form", {}, body],
  ["another operation", { "x-amz-target": "AWSEvents.DeleteRule" }, body],
  ["no JSON", target, "x"],
  ["no entries", target, "{}"],
])("%s is refused", async (_, headers, sent) => {
  const { endpoint, log } = await start();
  const { status } = await fetch(endpoint, { method: "POST", headers, body: sent });
  expect({ status, log }).toEqual({ status: 400, log: [] });
});

test("a name that resolves to this machine is refused", async () => {
  const { endpoint, log } = await start();
  const other = endpoint.replace("127.0.0.1", "localhost");
  const { status } = await fetch(other, { method: "POST", headers: target, body }).catch(() => ({
    status: 400,
  }));
  expect({ status, log }).toEqual({ status: 400, log: [] });
  expect((await fetch(endpoint, { method: "POST", headers: target, body })).status).toBe(200);
});
