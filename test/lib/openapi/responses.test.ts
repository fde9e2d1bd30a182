import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { checkResponse } from "../../support/document.ts";

const { paths } = JSON.parse(readFileSync("docs/openapi.json", "utf8"));
const route = { method: "GET", path: "/api/v1/leads" };
const { example } = paths[route.path].get.responses[200].content["application/json"];
const headers = {
  "content-type": "application/json",
  "cache-control": "no-store",
  link: '</api/v1/leads?page=1&limit=20>; rel="first", </api/v1/leads?page=1&limit=20>; rel="last"',
};
const check =
  (status: number, others: Record<string, string>, body: object = example) =>
  () =>
    checkResponse(route, {
      status,
      headers: new Headers({ ...headers, ...others }),
      body: JSON.stringify(body),
    });

test("an answer as the document has it passes", () => {
  expect(check(200, {})).not.toThrow();
});

const [lead] = example.data;
test.each([
  ["status", 201, {}, example, /status 201/],
  ["content type", 200, { "content-type": "text/plain" }, example, /content type text\/plain/],
  ["header", 200, { "x-other": "1" }, example, /header x-other is not documented/],
  ["value of a header", 200, { ratelimit: "5" }, example, /header RateLimit must match/],
  ["field", 200, {}, { ...example, more: 1 }, /body must NOT have additional/],
  ["value of a field", 200, {}, { ...example, data: [{ ...lead, score: 101 }] }, /body\/data\/0\/score/],
  [
    "body of another error",
    400,
    { "content-type": "application/problem+json" },
    {},
    /body must have required/,
  ],
])("another %s does not", (_, status, others, body, message) => {
  expect(check(status, others as Record<string, string>, body)).toThrow(message);
});

test("a required header may not be missing", () => {
  const body = JSON.stringify(example);
  const { link, ...rest } = headers;
  expect(() => checkResponse(route, { status: 200, headers: new Headers(rest), body })).toThrow(
    /header Link is missing/,
  );
});
