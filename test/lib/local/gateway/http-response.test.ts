import { gzipSync } from "node:zlib";
import { expect, test } from "vitest";
import { gatewayResponse, toHttpResponse } from "../../../../lib/local/gateway/http-response.ts";

const text = { "content-type": "text/plain; charset=utf-8" };
const json = { "content-type": "application/json" };

test.each([
  ["an object without a status", { a: 1 }, 200, json, '{"a":1}'],
  ["a text", "hello", 200, json, '"hello"'],
  ["an array", [1], 200, json, "[1]"],
  ["nothing", null, 200, json, "null"],
  ["a status alone", { statusCode: 204 }, 204, text, ""],
  ["the lowest status", { statusCode: 200 }, 200, text, ""],
  ["the highest status", { statusCode: 599 }, 599, text, ""],
  ["a body", { statusCode: 200, body: "hi" }, 200, text, "hi"],
  ["null for absent fields", { statusCode: 200, body: null, headers: null }, 200, text, ""],
  [
    "a content type",
    { statusCode: 201, headers: { "Content-Type": "application/json" }, body: "{}" },
    201,
    json,
    "{}",
  ],
  [
    "numbers and booleans",
    { statusCode: 200, headers: { A: 1, b: true } },
    200,
    { ...text, a: "1", b: "true" },
    "",
  ],
  [
    "cookies",
    { statusCode: 200, cookies: ["a=1", "b=2"] },
    200,
    { ...text, "set-cookie": ["a=1", "b=2"] },
    "",
  ],
  [
    "headers of the gateway",
    { statusCode: 200, headers: { "Content-Length": 9, Connection: "x" } },
    200,
    text,
    "",
  ],
])("%s becomes a response", (_, result, status, headers, body) => {
  expect(toHttpResponse(result)).toEqual({ status, headers, body });
});

test("a compressed body is passed on as its bytes, with its encoding", () => {
  const compressed = gzipSync("hello");
  const headers = { ...json, "content-encoding": "gzip", vary: "Accept-Encoding" };
  const result = { statusCode: 200, headers, body: compressed.toString("base64"), isBase64Encoded: true };
  expect(toHttpResponse(result)).toEqual({ status: 200, headers, body: compressed });
});

test("a base64 body is decoded", () => {
  const { body } = toHttpResponse({ statusCode: 200, isBase64Encoded: true, body: "AP8=" });
  expect(body).toEqual(Buffer.from([0, 255]));
});

test.each([
  { statusCode: "200" },
  { statusCode: 200.5 },
  { statusCode: 100 },
  { statusCode: 199 },
  { statusCode: 600 },
  { statusCode: null },
  { statusCode: 200, body: {} },
  { statusCode: 200, body: 5 },
  { statusCode: 200, headers: [] },
  { statusCode: 200, headers: { a: {} } },
  { statusCode: 200, headers: { "a b": "1" } },
  { statusCode: 200, headers: { a: "x\r\ny: 1" } },
  { statusCode: 200, cookies: "a=1" },
])("%j is an invalid response", (result) => {
  expect(toHttpResponse(result)).toEqual(gatewayResponse(500));
});
