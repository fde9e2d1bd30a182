import { describe, expect, test } from "vitest";
import type { RouteName } from "../../shared/routes.ts";
import { call } from "../support/call.ts";
import type { TestRequest } from "../support/events.ts";

/** Sends an invalid request. @returns its faults, each as `field message` */
async function listMessages(name: RouteName, request: TestRequest): Promise<string[]> {
  const { status, problem } = await call(name, request);
  expect(status, JSON.stringify(problem)).toBe(400);
  return problem.errors?.map(({ field, message }) => `${field} ${message}`) ?? [];
}

const leadsParameters = "page, limit, id, email, status, source, createdAfter, createdBefore";
const conversationsParameters = "page, limit, id, leadId, channel, status, createdAfter, createdBefore";

describe("a parameter that is not known", () => {
  test.each([
    ["list-leads", "created_after=x", "created_after is not a parameter of this route, but createdAfter is"],
    ["list-leads", "Page=1", "Page is not a parameter of this route, but page is"],
    ["list-leads", "statuss=new", "statuss is not a parameter of this route, but status is"],
    ["list-leads", "status[]=new", "status[] is not a parameter of this route, but status is"],
    ["list-leads", "cursor=x", `cursor is not a parameter of this route, which takes ${leadsParameters}`],
    ["list-leads", "per_page=5", `per_page is not a parameter of this route, which takes ${leadsParameters}`],
    ["list-leads", "=1", `"" is not a parameter of this route, which takes ${leadsParameters}`],
    [
      "list-leads",
      "__proto__=1",
      `__proto__ is not a parameter of this route, which takes ${leadsParameters}`,
    ],
    ["list-conversations", "lead=lead_1", "lead is not a parameter of this route, but leadId is"],
    [
      "list-conversations",
      "conversationId=conv_1",
      `conversationId is not a parameter of this route, which takes ${conversationsParameters}`,
    ],
    ["create-lead", "page=1", "page is not a parameter of this route, which takes none"],
  ] as const)("%s?%s", async (name, query, message) => {
    const body = name === "create-lead" ? { name: "Ada" } : undefined;
    expect(await listMessages(name, { query, body })).toEqual([message]);
  });
});

describe("a value that is not valid", () => {
  test.each([
    [{ nmae: "Ada" }, "name is required", "nmae is not a field of this route, but name is"],
    [
      { name: "Ada", phone: "1" },
      "phone is not a field of this route, which takes name, email, source, tags",
    ],
    [{ name: "Ada", "": 1 }, '"" is not a field of this route, which takes name, email, source, tags'],
    [{ name: null }, "name must be a string, not null"],
    [{ name: 5 }, "name must be a string, not a number"],
    [{ name: ["Ada"] }, "name must be a string, not an array"],
    [{ name: { first: "Ada" } }, "name must be a string, not a JSON object"],
    [{ name: true }, "name must be a string, not true or false"],
    [{ name: "Ada", source: null }, "source must be a string, not null: leave it out if it has no value"],
    [{ name: "Ada", tags: null }, "tags must be an array, not null: leave it out if it has no value"],
    [{ name: "Ada", tags: "vip" }, "tags must be an array, not a string"],
    [{ name: "Ada", tags: [null] }, "tags[0] must be a string, not null"],
    [{ name: "Ada", tags: [""] }, "tags[0] must have at least 1 character"],
    [{ name: "Ada", source: "" }, "source must have at least 1 character: leave it out if it has no value"],
    [{ name: "Ada", email: "" }, "email must not be empty: leave it out if it has no value"],
    [{ name: "Ada", email: "ada" }, "email must have an @"],
  ])("create-lead %j", async (body, ...messages) => {
    expect(await listMessages("create-lead", { body })).toEqual(messages);
  });

  test.each([
    ["null", " must be a JSON object, not null"],
    ["[]", " must be a JSON object, not an array"],
    ["", " must be present: a JSON object"],
    ["{'name':'Ada'}", ' must be valid JSON: at line 1, column 2, use straight double quotes (")'],
  ])("create-lead with the body %s", async (body, message) => {
    expect(await listMessages("create-lead", { body })).toEqual([message]);
  });

  test.each([
    ["list-leads", "email=ada@localhost", "must have a domain with a dot after the @, such as example.com"],
    ["list-leads", "email=", "must not be empty: leave it out if it has no value"],
    ["list-leads", "id=", "must have at least 1 character: leave it out if it has no value"],
    ["list-leads", "status=", "must be one of new, qualified, booked"],
    ["list-leads", "page=", "must be a whole number from 1 to 999999999, in plain digits"],
    ["list-leads", "email=a&email=b", "must be given once"],
    ["list-leads", "email=%ff", "must be percent-encoded UTF-8"],
  ] as const)("%s?%s", async (name, query, message) => {
    expect(await listMessages(name, { query })).toEqual([`${query.split("=")[0]} ${message}`]);
  });
});

describe("an id of another kind", () => {
  const id = "01M7XX82T31MKK0XPP5SRK7Z5P";

  test.each([
    ["list-leads", "id", `conv_${id}`, "is the id of a conversation, not of a lead"],
    ["list-leads", "id", `msg_${id}`, "is the id of a message, which no list has"],
    ["list-conversations", "id", `lead_${id}`, "is the id of a lead, not of a conversation"],
    ["list-conversations", "id", `msg_${id}`, "is the id of a message, which no list has"],
    ["list-conversations", "leadId", `conv_${id}`, "is the id of a conversation, not of a lead"],
    ["list-conversations", "leadId", `msg_${id}`, "is the id of a message, which no list has"],
  ] as const)("%s?%s=%s", async (name, parameter, value, message) => {
    expect(await listMessages(name, { query: `${parameter}=${value}` })).toEqual([`${parameter} ${message}`]);
  });
});

describe("another name of Idempotency-Key", () => {
  const body = {};

  test.each([
    "x-idempotency-key",
    "x_idempotency_key",
    "idempotency_key",
    "idempotencykey",
    "x-idempotencykey",
  ])("%s", async (header) => {
    for (const name of ["create-lead", "send-message"] as const) {
      const messages = await listMessages(name, { body, headers: { [header]: "key" } });
      expect(messages.at(-1)).toBe(
        `${header} is not a header of this route: send the key as Idempotency-Key`,
      );
    }
  });

  test("is accepted beside it, and on lists", async () => {
    const headers = { "x-idempotency-key": "key", "idempotency-key": "key" };
    expect(await listMessages("create-lead", { body, headers })).toEqual(["name is required"]);
    const faults = await listMessages("list-leads", {
      query: "page=0",
      headers: { "x-idempotency-key": "key" },
    });
    expect(faults).toHaveLength(1);
  });

  test.each(["x-request-id", "idempotency-key-id", "my-idempotency-key"])("is not %s", async (header) => {
    expect(await listMessages("create-lead", { body, headers: { [header]: "key" } })).toEqual([
      "name is required",
    ]);
  });
});

describe("a compressed body", () => {
  test.each(["gzip", "br", "GZIP", "identity, gzip", "deflate"])("of the encoding %s", async (encoding) => {
    const request = { body: {}, headers: { "content-encoding": encoding } };
    const { status, headers, problem } = await call("create-lead", request);
    expect(status).toBe(415);
    expect(headers["accept-encoding"]).toBe("identity");
    expect(problem.detail).toBe("The content-encoding must be absent: send the body uncompressed.");
    expect(problem.errors).toEqual([
      {
        in: "header",
        field: "content-encoding",
        code: "unsupported",
        message: "must be absent: send the body uncompressed",
      },
    ]);
  });

  test.each(["", "identity", "Identity", " identity "])("is not one of the encoding %j", async (encoding) => {
    const request = { body: {}, headers: { "content-encoding": encoding } };
    expect(await listMessages("create-lead", request)).toEqual(["name is required"]);
  });

  test("of another media type is reported for its type, without the header", async () => {
    const headers = { "content-type": "text/plain", "content-encoding": "gzip" };
    const response = await call("create-lead", { body: {}, headers });
    expect(response.problem.errors?.[0]?.field).toBe("content-type");
    expect(response.headers).not.toHaveProperty("accept-encoding");
  });
});

test.each([
  "\0",
  "\u{1F600}",
  "leadId",
  "x",
])("names of %j keep a response with 100 faults under 64 KB", async (unit) => {
  const names = Array.from({ length: 100 }, (_, n) => n + unit.repeat(64));
  const body = Object.fromEntries(names.map((name) => [name, 1]));
  const { problem } = await call("send-message", { body });
  expect(problem.errors).toHaveLength(100);
  expect(Buffer.byteLength(JSON.stringify(problem))).toBeLessThan(64 * 1024);
});
