import { connect } from "node:net";
import { buffer } from "node:stream/consumers";
import { expect, onTestFinished, test } from "vitest";
import { startGateway } from "../../../../lib/local/gateway/gateway.ts";
import { exchange, parseResponses } from "../../../support/socket.ts";
import { createFunction } from "../support/stack.ts";

/** Starts a gateway whose one route returns the request's body after a moment. */
async function start() {
  const route = { method: "POST", path: "/probes", timeout: 30_000, function: await createFunction("") };
  const bodies: unknown[] = [];
  const invoke = async (_: unknown, payload: string) => {
    const { body = "" } = JSON.parse(payload) as { body?: string };
    bodies.push(body);
    await new Promise((resolve) => setTimeout(resolve, 20));
    return { statusCode: 201, headers: { "content-type": "application/json" }, body };
  };
  const gateway = await startGateway({ apiId: "api", routes: [route] }, { port: 0, invoke, log: () => {} });
  let stopped: Promise<void> | undefined;
  const stop = () => (stopped ??= gateway.stop());
  onTestFinished(stop);
  const responses = async (bytes: string, ends = false) =>
    parseResponses(await exchange(gateway.url, bytes, ends)).map(({ status, text }) => `${status} ${text}`);
  return { url: gateway.url, stop, responses, bodies };
}

const post = (body: string, ...headers: string[]) =>
  [
    "POST /probes HTTP/1.1",
    "Host: localhost",
    "Content-Type: application/json",
    `Content-Length: ${body.length}`,
    ...headers,
    "",
    body,
  ].join("\r\n");

const badRequest = '400 {"message":"Bad Request"}';

test("a request without a host gets 400", async () => {
  const { responses, bodies } = await start();
  expect(await responses("POST /probes HTTP/1.1\r\nConnection: close\r\n\r\n")).toEqual([badRequest]);
  expect(bodies).toEqual([]);
  expect(await responses("POST /probes HTTP/1.0\r\n\r\n")).toEqual(["201 "]);
});

test("CONNECT matches no route, and does not keep the gateway from stopping", async () => {
  const { url, stop } = await start();
  const socket = connect({ port: Number(new URL(url).port), host: "127.0.0.1", allowHalfOpen: true });
  onTestFinished(() => void socket.destroy());
  socket.write("CONNECT x:443 HTTP/1.1\r\nHost: x:443\r\n\r\n");
  expect(parseResponses(await buffer(socket))).toMatchObject([{ status: 404 }]);
  await stop();
});

test("the Expect header is ignored", async () => {
  const { responses } = await start();
  expect(await responses(post("{}", "Expect: nonsense", "Connection: close"))).toEqual(["201 {}"]);
  expect(await responses(post("{}", "Expect: 100-continue", "Connection: close"))).toEqual(["201 {}"]);
});

test.each([
  ["nothing", ""],
  ["a request", post('{"b":2}')],
  ["malformed HTTP", "nonsense\r\n\r\n"],
])("after a request that closes the connection, %s is not read", async (_, more) => {
  const { responses, bodies } = await start();
  expect(await responses(post('{"a":1}', "Connection: close") + more)).toEqual(['201 {"a":1}']);
  expect(bodies).toEqual(['{"a":1}']);
});

test("requests before malformed HTTP get their responses first", async () => {
  const { responses, bodies } = await start();
  const sent = `${post('{"a":1}')}${post('{"b":2}')}nonsense\r\n\r\n`;
  expect(await responses(sent)).toEqual(['201 {"a":1}', '201 {"b":2}', badRequest]);
  expect(bodies).toEqual(['{"a":1}', '{"b":2}']);
});

test("a truncated body gets 400, after the response to the request before it", async () => {
  const { responses, bodies } = await start();
  const cut = post("{}").replace("Content-Length: 2", "Content-Length: 9");
  expect(await responses(cut, true)).toEqual([badRequest]);
  expect(await responses(post('{"a":1}') + cut, true)).toEqual(['201 {"a":1}', badRequest]);
  expect(bodies).toEqual(['{"a":1}']);
});
