import { createServer } from "node:http";
import { afterAll, expect, test } from "vitest";
import { listening } from "../support/listening.ts";
import { Client, posting } from "./client.ts";

/** The requests of each connection, in order. */
const connections = new Map<unknown, number>();
let received: (string | undefined)[] = [];

/** It closes each connection with its second request, as a server that is idle for too long may. */
const server = createServer(({ method, socket }, response) => {
  const requests = (connections.get(socket) ?? 0) + 1;
  connections.set(socket, requests);
  received.push(method);
  if (requests === 1) response.end("{}");
  else socket.destroy();
});
afterAll(() => server.closeAllConnections());
const client = new Client(await listening(server));

test.each([
  ["a GET", { path: "/" }],
  ["a POST with an idempotency key", posting("/", {}, { "idempotency-key": "key" })],
])("%s is sent again when the connection that it was sent on had been used and was closed", async (_, sending) => {
  // The connection is kept.
  await client.get("/");
  received = [];
  const { status } = await client.sendOnce(sending);
  expect(status).toBe(200);
  expect(received).toEqual([sending, sending].map((one) => ("method" in one ? one.method : "GET")));
});

test("a POST without a key has a connection of its own, and is sent once", async () => {
  await client.get("/");
  received = [];
  expect((await client.post("/", {})).status).toBe(200);
  expect(received).toEqual(["POST"]);
});
