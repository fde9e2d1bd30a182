import dns from "node:dns";
import { once } from "node:events";
import { createServer } from "node:http";
import { ThrottlingException } from "@aws-sdk/client-dynamodb";
import { GetCommand } from "@aws-sdk/lib-dynamodb";
import { HttpRequest } from "@smithy/core/protocols";
import type { NodeHttpHandler } from "@smithy/node-http-handler";
import { afterAll, expect, onTestFinished, test, vi } from "vitest";
import { listening } from "../../support/requests/listening.ts";

/** A table that accepts every request and never responds. */
const server = createServer(() => {});
afterAll(() => server.closeAllConnections());

const address = await listening(server);
vi.stubEnv("AWS_ENDPOINT_URL_DYNAMODB", address);
vi.stubEnv("AWS_ACCESS_KEY_ID", "local");
vi.stubEnv("AWS_SECRET_ACCESS_KEY", "local");
// More attempts than the client makes.
vi.stubEnv("AWS_MAX_ATTEMPTS", "5");

/** Runs when an id is created. */
let onId = () => {};
vi.doMock("../../../shared/ids.ts", async (original) => {
  const ids = await original<typeof import("../../../shared/ids.ts")>();
  const newId = (...args: Parameters<typeof ids.newId>) => {
    onId();
    return ids.newId(...args);
  };
  return { ...ids, newId };
});

// Imported here because the client reads its endpoint from the environment.
const { call } = await import("../../support/requests/call.ts");
const { table } = await import("../../../shared/dynamodb/table-client.ts");
const { createLead } = await import("../../../shared/domain/create-lead.ts");
const { sendMessage } = await import("../../../shared/domain/conversations/messages.ts");
const { limits } = await import("../../../shared/pages/tree/tree-limits.ts");

test.each([
  [1500, 2],
  [1501, 1],
])("a call whose first attempt fails after %i ms makes %i attempts: none begins later than 1.5 s", async (age, count) => {
  const start = Date.now();
  vi.useFakeTimers({ now: start, toFake: ["Date"] });
  const handle = vi.spyOn(table.config.requestHandler, "handle").mockImplementation(async () => {
    vi.setSystemTime(start + age);
    throw Object.assign(new Error("timeout"), { name: "TimeoutError" });
  });
  expect((await call("create-lead", { body: { name: "Ada" } })).status).toBe(503);
  expect(handle).toHaveBeenCalledTimes(count);
});

test.each([
  ["a lead", () => createLead("acme", { name: "Ada" })],
  [
    "a lead with a key",
    () => createLead("acme", { name: "Ada" }, { key: { pk: "a", sk: "b" }, fingerprint: "c" }),
  ],
  ["a conversation", () => sendMessage("acme", { leadId: "lead_1", channel: "sms", message: "Hello" })],
])("a call is as old as the id of %s, and is not sent after 1.5 s", async (_, write) => {
  vi.useFakeTimers({ now: Date.now(), toFake: ["Date"] });
  const send = table.send.bind(table);
  vi.spyOn(table, "send").mockImplementation(((command: object) =>
    // The lead exists, and has no conversation.
    command instanceof GetCommand
      ? { Item: command.input.Key?.sk === "lead_1" ? { pk: "LEAD#acme" } : undefined }
      : send(command as never)) as never);
  const handle = vi.spyOn(table.config.requestHandler, "handle").mockRejectedValue(new Error("It was sent."));
  // The time passes as soon as anything is awaited after the id was made.
  onId = () => queueMicrotask(() => vi.setSystemTime(Date.now() + 1501));
  onTestFinished(() => {
    onId = () => {};
  });
  await expect(write()).rejects.toThrow("Too late");
  expect(handle).not.toHaveBeenCalled();
});

test("a throttled call is repeated once, after a tenth of a second at most", async () => {
  vi.spyOn(Math, "random").mockReturnValue(0.99);
  const handle = vi.spyOn(table.config.requestHandler, "handle").mockImplementation(async () => {
    throw new ThrottlingException({ message: "on purpose", $metadata: {} });
  });
  const timer = vi.spyOn(globalThis, "setTimeout");
  vi.useFakeTimers({ toFake: ["Date"] });
  await expect(createLead("acme", { name: "Ada" })).rejects.toThrow("on purpose");
  expect(handle).toHaveBeenCalledTimes(2);
  // The SDK's own delay is up to a second.
  expect(timer.mock.calls.map(([, milliseconds]) => milliseconds)).toEqual([99]);
});

test("every write lands before its row may be counted: an attempt takes at most a second, with its connection", async () => {
  const { lookup } = dns;
  vi.spyOn(dns, "lookup").mockImplementation(((...args: Parameters<typeof lookup>) =>
    setTimeout(() => lookup(...args), 800)) as never);
  const { requestHandler } = table.config;
  const request = new HttpRequest({
    hostname: "localhost",
    port: Number(new URL(address).port),
    protocol: "http:",
    method: "POST",
  });
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
  const ended = vi.fn();
  const [received, attempt] = [once(server, "request"), requestHandler.handle(request).catch(ended)];
  await vi.advanceTimersByTimeAsync(800);
  await received;
  await vi.advanceTimersByTimeAsync(199);
  expect(ended).not.toHaveBeenCalled();
  await vi.advanceTimersByTimeAsync(1);
  await attempt;
  expect(ended.mock.lastCall).toMatchObject([{ message: expect.stringContaining("1000 ms requestTimeout") }]);
  const { connectionTimeout = 0, requestTimeout = 0 } = (
    requestHandler as NodeHttpHandler
  ).httpHandlerConfigs();
  const latestLanding = 1500 + Math.max(connectionTimeout, requestTimeout);
  expect(latestLanding + limits.skew).toBeLessThanOrEqual(limits.allowedLateness);
});
