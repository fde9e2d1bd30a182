import { beforeEach, expect, test, vi } from "vitest";
import { newId } from "../../shared/ids.ts";
import type { RouteName } from "../../shared/routes.ts";
import { call, invokeHandler } from "../support/call.ts";
import { decodedBody } from "../support/decoded-body.ts";
import { routeEvent, type TestRequest } from "../support/events.ts";
import { useMemoryTable } from "../support/memory-leads.ts";
import { storedLead } from "../support/stored.ts";

const leadIds = Array.from({ length: 20 }, (_, n) => newId("lead", Date.UTC(2026, 0, 1) + n));

beforeEach(() => {
  vi.spyOn(console, "info").mockImplementation(() => {});
  const memory = useMemoryTable();
  for (const id of leadIds) memory.put(storedLead(id));
});

const accepting = (request: TestRequest, encoding: string): TestRequest => ({
  ...request,
  headers: { ...request.headers, "accept-encoding": encoding },
});

const encodingOf = async (header: string) =>
  (await call("list-leads", accepting({}, header))).headers["content-encoding"];

test.each([
  "gzip",
  "GZIP",
  "gzip, deflate, br, zstd",
  " br ;q=1.0 ,\tgzip ; q=0.5 ",
  "gzip;x=1;q=0.5",
  "*",
  "*;q=0, gzip",
  "gzip;q=0.5, identity;q=0.5",
  "gzip;q=0.5, *;q=0",
  ",,gzip,",
])("a page is compressed for %j", async (header) => {
  expect(await encodingOf(header)).toBe("gzip");
});

test.each([
  "",
  "identity",
  "deflate, br;q=1.0",
  "x-gzip",
  "gzip;q=0",
  "gzip;Q=0",
  "gzip;x=1;q=0",
  "gzip;q=0, *",
  "gzip;q=-1",
  "gzip;q=",
  "gzip;q=x",
  "*;q=0",
  "identity;q=0, *;q=0",
  "identity, gzip;q=0.5",
  "gzip;q=0.5, *",
  '"gzip"',
])("a page is not compressed for %j", async (header) => {
  expect(await encodingOf(header)).toBeUndefined();
});

test.each([
  "a",
  "\u00e9",
])("a body is compressed from 1,024 bytes, however many characters they are: %s", async (unit) => {
  const tags = Array(11).fill("x".repeat(64));
  const create = (name: string) =>
    invokeHandler("create-lead", routeEvent("create-lead", accepting({ body: { name, tags } }, "gzip")));
  const others = Buffer.byteLength((await create("a")).body ?? "") - 1;
  for (const bytes of [1023, 1024]) {
    const [rest, size] = [bytes - others, Buffer.byteLength(unit)];
    const response = await create(unit.repeat(Math.floor(rest / size)) + "a".repeat(rest % size));
    expect(Buffer.byteLength(decodedBody(response))).toBe(bytes);
    expect(response.headers?.["content-encoding"]).toBe(bytes < 1024 ? undefined : "gzip");
  }
});

const tags = Array.from({ length: 50 }, (_, n) => `tag-${n}-of-the-import`);
const message = { leadId: leadIds[0], channel: "email", message: "\u{1F44B} Hello\n".repeat(300) };
const key = { "idempotency-key": "key-1" };

// With a key, every response to the same POST repeats the first one.
test.each<[RouteName, TestRequest, number]>([
  ["list-leads", {}, 200],
  ["create-lead", { body: { name: "Ada", tags }, headers: key }, 201],
  ["send-message", { body: message, headers: key }, 201],
  ["create-lead", { body: { name: "Ada", tags: Array(100).fill("") } }, 400],
])("a large response of %s is compressed to exactly the plain body, with the same headers", async (...args) => {
  const [name, request, status] = args;
  await call(name, request);
  const plain = await invokeHandler(name, routeEvent(name, request));
  const compressed = await invokeHandler(name, routeEvent(name, accepting(request, "gzip")));
  expect(plain).toMatchObject({ statusCode: status, headers: { vary: "Accept-Encoding" } });
  expect(plain.isBase64Encoded ?? false).toBe(false);
  expect(compressed).toEqual({
    statusCode: status,
    headers: { ...plain.headers, "content-encoding": "gzip" },
    body: expect.stringMatching(/^H4sI/),
    isBase64Encoded: true,
  });
  expect(decodedBody(compressed)).toBe(plain.body);
  expect(vi.mocked(console.info).mock.lastCall).toMatchObject([{ route: name, status }]);
});
