import { describe, expect, test } from "vitest";
import type { RouteName } from "../../shared/routes.ts";
import { call } from "../support/call.ts";
import type { TestRequest } from "../support/events.ts";

/** Sends an invalid request. @returns its faults, each as `in field code` */
async function listFaults(name: RouteName, request: TestRequest, status = 400): Promise<string[]> {
  const response = await call(name, request);
  expect(response.status).toBe(status);
  expect(response.headers["content-type"]).toBe("application/problem+json");
  const { problem } = response;
  expect(Object.keys(problem).sort()).toEqual([
    "code",
    "detail",
    "errors",
    "requestId",
    "status",
    "title",
    "type",
  ]);
  expect(problem.type).toBe(`urn:problem-type:${problem.code}`);
  for (const { field, message } of problem.errors ?? []) {
    expect(message).toMatch(/^(must|is) /);
    expect(problem.detail).toContain(`${field || "body"} ${message}`);
  }
  return problem.errors?.map(({ in: place, field, code }) => `${place} ${field} ${code}`) ?? [];
}

const lists = ["list-leads", "list-conversations"] as const;
const posts = ["create-lead", "send-message"] as const;
const long = (length: number, unit = "x") => unit.repeat(length);

describe.each(lists)("%s rejects", (name) => {
  const plain = [
    "0",
    "-1",
    "1e1",
    "20.0",
    "0x10",
    "%2B5",
    "+5",
    "5+",
    "01",
    "",
    "1,2",
    "٣",
    "NaN",
    "null",
    "true",
    "[1]",
  ];

  test.each([...plain, "1000000000", "99999999999999999999"])("page=%s", async (value) => {
    expect(await listFaults(name, { query: `page=${value}` })).toEqual(["query page out_of_range"]);
  });

  test.each([...plain, "101", "1000", "100.0"])("limit=%s", async (value) => {
    expect(await listFaults(name, { query: `limit=${value}` })).toEqual(["query limit out_of_range"]);
  });

  test.each([
    ["page=1&page=1", "query page repeated"],
    ["limit=5&x=1&limit=5", "query limit repeated", "query x unknown"],
    ["status=new&status=booked", "query status repeated"],
    ["statuss=new", "query statuss unknown"],
    ["Page=1", "query Page unknown"],
    ["page%00=1", "query page\0 unknown"],
    ["__proto__=1", "query __proto__ unknown"],
    ["constructor=1", "query constructor unknown"],
    ["toString=1&hasOwnProperty", "query toString unknown", "query hasOwnProperty unknown"],
    ["=1", 'query "" unknown'],
    ["cursor=abc&page=x", "query cursor unknown", "query page out_of_range"],
    ["status=", name === "list-leads" ? "query status not_allowed" : "query status too_short"],
    ["page=%zz", "query page invalid_encoding"],
    ["page=%ff", "query page invalid_encoding"],
    ["status=%ed%a0%80", "query status invalid_encoding"],
  ])("%s", async (query, ...expected) => {
    expect((await listFaults(name, { query })).sort()).toEqual(expected.sort());
  });

  test("thousands of parameters, and lists the first 100", async () => {
    const parameters = Array.from({ length: 3000 }, (_, n) => n.toString(36));
    for (const query of [parameters.join("&"), parameters.map((name) => `${name}&${name}`).join("&")]) {
      const { problem } = await call(name, { query });
      expect(problem.errors).toHaveLength(100);
      expect(problem.detail).toMatch(/; and at least 95 more faults\.$/);
    }
    expect(await listFaults(name, { query: "limit&".repeat(3000) })).toEqual(["query limit repeated"]);
  });

  test("a body, and reports it with the faults of the query", async () => {
    expect(await listFaults(name, { body: {} })).toEqual(["body  unexpected"]);
    const faults = await listFaults(name, { body: {}, query: "page=0" });
    expect(faults).toEqual(["query page out_of_range", "body  unexpected"]);
  });
});

describe.each(lists)("%s rejects times", (name) => {
  test.each([
    "",
    "now",
    "2026-01-31",
    "2026-01-31T09:30:00",
    "2026-01-31T09:30Z",
    "2026-01-31T09:30:00%20Z",
    "2026-01-31T09:30:00.Z",
    "2026-01-31T24:00:00Z",
    "2026-01-31T09:30:60Z",
    "2026-02-30T09:30:00Z",
    "2026-13-01T09:30:00Z",
    "2026-01-31T09:30:00%2B24:00",
    // An unencoded plus sign is a space.
    "2026-01-31T09:30:00+01:00",
    "1769851800",
    "+002026-01-31T09:30:00Z",
  ])("that are not RFC 3339 timestamps: %s", async (value) => {
    for (const field of ["createdAfter", "createdBefore"])
      expect(await listFaults(name, { query: `${field}=${value}` })).toEqual([
        `query ${field} invalid_format`,
      ]);
  });

  test("that are repeated, not encoded, or in the wrong order", async () => {
    const time = "2026-01-31T09:30:00Z";
    const repeated = `createdAfter=${time}&createdAfter=${time}&createdBefore=%ff`;
    const faults = ["query createdAfter repeated", "query createdBefore invalid_encoding"];
    expect(await listFaults(name, { query: repeated })).toEqual(faults);
    const swapped = `createdBefore=${time}&createdAfter=2026-01-31T09:30:00.001Z`;
    expect(await listFaults(name, { query: swapped })).toEqual(["query createdBefore out_of_range"]);
  });
});

describe("filters reject", () => {
  test.each([
    ["list-leads", "status=NEW", "query status not_allowed"],
    ["list-leads", "status=active", "query status not_allowed"],
    ["list-leads", "status=%20new", "query status not_allowed"],
    ["list-leads", "source=", "query source too_short"],
    ["list-leads", `source=${long(65)}`, "query source too_long"],
    ["list-leads", "source=a%00", "query source invalid_characters"],
    ["list-leads", "source=a&source=y", "query source repeated"],
    ["list-leads", "leadId=x", "query leadId unknown"],
    ["list-leads", "id=", "query id too_short"],
    ["list-leads", `id=${long(65)}`, "query id too_long"],
    ["list-leads", "email=ada", "query email invalid_format"],
    ["list-leads", "email=", "query email invalid_format"],
    ["list-leads", "email=a@b.c&email=a@b.c", "query email repeated"],
    ["list-conversations", "id=", "query id too_short"],
    ["list-conversations", "email=ada@example.com", "query email unknown"],
    ["list-conversations", "leadId=", "query leadId too_short"],
    ["list-conversations", "leadId=\ud800", "query leadId invalid_encoding"],
    ["list-conversations", `leadId=${long(65)}`, "query leadId too_long"],
    ["list-conversations", "channel=%0A", "query channel invalid_characters"],
    ["list-conversations", `status=${long(65)}`, "query status too_long"],
    ["list-conversations", "source=x", "query source unknown"],
  ] as const)("%s?%s", async (name, query, fault) => {
    expect(await listFaults(name, { query })).toEqual([fault]);
  });
});

describe.each(posts)("%s rejects", (name) => {
  const valid =
    name === "create-lead" ? { name: "Ada" } : { leadId: "lead_1", channel: "a", message: "Hello" };
  const withType = (type: string, body: string = JSON.stringify(valid)) => ({
    headers: { "content-type": type },
    body,
  });

  test.each([
    ["text/plain"],
    ["application/x-www-form-urlencoded"],
    ["application/jsonp"],
    ["application/xml"],
    ["application"],
    [""],
  ])("the content type %j", async (type) => {
    expect(await listFaults(name, withType(type), 415)).toEqual(["header content-type unsupported"]);
  });

  test("a missing content type", async () => {
    const faults = await listFaults(name, { body: valid, headers: { "content-type": "" } }, 415);
    expect(faults).toEqual(["header content-type unsupported"]);
  });

  test("a missing body, with and without a content type", async () => {
    expect(await listFaults(name, {})).toEqual(["body  required"]);
    for (const type of ["application/json", "text/plain"]) {
      expect(await listFaults(name, { headers: { "content-type": type } })).toEqual(["body  required"]);
    }
  });

  test.each([
    ["", "required"],
    ["{", "invalid_json"],
    ['{"name":}', "invalid_json"],
    ["{'name':'x'}", "invalid_json"],
    ["\ufeff{}", "invalid_json"],
    ["NaN", "invalid_json"],
    ['{"__proto__":{}}', "forbidden_key"],
    ['{"name":"x","tags":[{"__proto__":1}]}', "forbidden_key"],
    ['{"constructor":{"prototype":{}}}', "forbidden_key"],
    [long(30_000, "["), "invalid_json"],
    [long(100, "[") + long(100, "]"), "wrong_type"],
    [long(101, "[") + long(101, "]"), "too_deep"],
    [long(30_000, "[") + long(30_000, "]"), "too_deep"],
    [`[${long(998, "1,")}1]`, "wrong_type"],
    [`[${long(999, "1,")}1]`, "too_many"],
    [`{"tags":[${long(30_000, "1,")}1]}`, "too_many"],
    [`{"tags":[${long(15_000, "{},")}1]}`, "too_many"],
    [`"${long(64 * 1024)}"`, "too_large"],
    [`"${long(100, '\\"[{,')}"`, "wrong_type"],
    ["[]", "wrong_type"],
    ["null", "wrong_type"],
    ["5", "wrong_type"],
    ['"name"', "wrong_type"],
  ])("the body %j", async (body, code) => {
    expect(await listFaults(name, { body, headers: { "content-type": "application/json" } })).toEqual([
      `body  ${code}`,
    ]);
  });

  test("a base64 body that is not UTF-8", async () => {
    const body = Buffer.from([0x7b, 0xff, 0x7d]).toString("base64");
    const request = { ...withType("application/vnd.api+json", body), isBase64Encoded: true };
    expect(await listFaults(name, request)).toEqual(["body  invalid_encoding"]);
  });

  describe("a text body with U+FFFD", () => {
    const extra = JSON.stringify({ ...valid, extra: "\ufffd" });
    /** @param length the header, empty if there is none */
    const sendText = (body: string, length: number | "") =>
      listFaults(name, { headers: { "content-length": String(length) }, body });

    test("that was sent in its place, or may have been", async () => {
      const bytes = Buffer.byteLength(extra);
      for (const length of [bytes - 2, bytes - 1, ""] as const)
        expect(await sendText(extra, length)).toEqual(["body  invalid_encoding"]);
    });

    test("only for its other faults if U+FFFD was sent", async () => {
      expect(await sendText(extra, Buffer.byteLength(extra))).toEqual(["body extra unknown"]);
      expect(await sendText(extra.replace("\ufffd", "\\ufffd"), "")).toEqual(["body extra unknown"]);
    });
  });

  test("a body that cannot be parsed, and reports it with the faults of the query", async () => {
    const request = { query: "page=1", body: "{", headers: { "content-type": "application/json" } };
    expect(await listFaults(name, request)).toEqual(["query page unknown", "body  invalid_json"]);
  });

  test("query parameters, and reports them with the faults of the body", async () => {
    const faults = await listFaults(name, { query: "page=1", body: { ...valid, extra: 1 } });
    expect(faults).toEqual(["query page unknown", "body extra unknown"]);
  });

  test("an unknown field, whatever its name", async () => {
    for (const field of ["id", "Name", "", "a.b", "a[0]", "toString", "score"]) {
      expect(await listFaults(name, { body: { ...valid, [field]: 1 } })).toEqual([
        `body ${field || '""'} unknown`,
      ]);
    }
  });

  test("a repeated field, and reports it with the other faults", async () => {
    const body = `{"x":1,${JSON.stringify(valid).slice(1, -1)},"x":2,"\\u0078":3,"y":{"z":1,"z":1}}`;
    expect(await listFaults(name, { query: "page=1", body })).toEqual([
      "query page unknown",
      "body x unknown",
      "body y unknown",
      "body x duplicate_key",
      "body y[z] duplicate_key",
    ]);
  });

  test("a known field that is repeated, even if each value is valid", async () => {
    for (const [field, value] of Object.entries(valid)) {
      const body = `{"${field}":"first",${JSON.stringify({ ...valid, [field]: value }).slice(1)}`;
      expect(await listFaults(name, { body })).toEqual([`body ${field} duplicate_key`]);
      const request = { ...withType("application/vnd.api+json", Buffer.from(body).toString("base64")) };
      expect(await listFaults(name, { ...request, isBase64Encoded: true })).toEqual([
        `body ${field} duplicate_key`,
      ]);
    }
  });

  test.each([99, 100, 101, 900])("%i unknown fields, and lists the first 100", async (count) => {
    const extra = Object.fromEntries(Array.from({ length: count }, (_, i) => [`f${i}`, 1]));
    const { status, problem } = await call(name, { body: { ...valid, ...extra } });
    expect(status).toBe(400);
    expect(problem.errors).toHaveLength(Math.min(count, 100));
    expect(problem.errors?.at(-1)).toMatchObject({ field: `f${Math.min(count, 100) - 1}`, code: "unknown" });
    expect(problem.detail).toMatch(
      count < 100 ? /; and 94 more faults\.$/ : /; and at least 95 more faults\.$/,
    );
  });

  test("a field with a very long name, and shortens the name", async () => {
    const { problem } = await call(name, { body: { ...valid, [long(60_000)]: 1 } });
    expect(problem.errors?.[0]?.field).toBe(`${long(64)}…`);
  });

  test.each([
    "application/json; charset=utf-8",
    "application/vnd.api+json",
    "APPLICATION/JSON",
  ])("no valid body of the type %s", async (type) => {
    const body = Buffer.from(JSON.stringify(valid)).toString("base64");
    const { status } = await call(name, { ...withType(type, body), isBase64Encoded: true });
    expect(status).toBe(name === "create-lead" ? 201 : 404);
  });
});

describe("create-lead rejects", () => {
  test.each([
    [{}, "body name required"],
    [{ name: null }, "body name wrong_type"],
    [{ name: 5 }, "body name wrong_type"],
    [{ name: ["Ada"] }, "body name wrong_type"],
    [{ name: "" }, "body name blank"],
    [{ name: " \u3000\u00a0" }, "body name blank"],
    [{ name: long(201) }, "body name too_long"],
    [{ name: long(201, "\u{1F600}") }, "body name too_long"],
    [{ name: "a\nb" }, "body name invalid_characters"],
    [{ name: "a\0b" }, "body name invalid_characters"],
    [{ name: "a\u0085b" }, "body name invalid_characters"],
    [{ name: "a\ud800b" }, "body name invalid_characters"],
    [{ name: "\udc00\ud800" }, "body name invalid_characters"],
    [{ email: null }, "body email wrong_type", "body name required"],
    [{ name: "a", email: "" }, "body email invalid_format"],
    [{ name: "a", email: "ada" }, "body email invalid_format"],
    [{ name: "a", email: "ada@x" }, "body email invalid_format"],
    [{ name: "a", email: "a b@example.com" }, "body email invalid_format"],
    [{ name: "a", email: "a@example.com\n" }, "body email invalid_format"],
    [{ name: "a", email: `a@${long(125, "b.")}com` }, "body email too_long"],
    [{ name: "a", source: "" }, "body source too_short"],
    [{ name: "a", source: long(65) }, "body source too_long"],
    [{ name: "a", source: "\t" }, "body source invalid_characters"],
    [{ name: "a", tags: "vip" }, "body tags wrong_type"],
    [{ name: "a", tags: { 0: "vip" } }, "body tags wrong_type"],
    [{ name: "a", tags: Array(51).fill("t") }, "body tags too_many"],
    [
      { name: "a", tags: ["a", "", "b", null, 5] },
      "body tags[1] too_short",
      "body tags[3] wrong_type",
      "body tags[4] wrong_type",
    ],
    [{ name: "a", tags: [long(65)] }, "body tags[0] too_long"],
    [{ name: "a", tags: ["\u001b"] }, "body tags[0] invalid_characters"],
    [
      { name: 1, email: 2, source: 3, tags: 4, x: 5 },
      "body email wrong_type",
      "body name wrong_type",
      "body source wrong_type",
      "body tags wrong_type",
      "body x unknown",
    ],
  ])("%j", async (body, ...expected) => {
    expect((await listFaults("create-lead", { body })).sort()).toEqual(expected);
  });
});

test.each([
  ["lead_1", "This account has no lead with this leadId."],
  ["x", "This account has no lead with this leadId."],
  ["conv_1", "This account has no lead with this leadId, which is the id of a conversation."],
  ["msg_1", "This account has no lead with this leadId, which is the id of a message."],
])("send-message tells what the leadId %s is", async (leadId, detail) => {
  const body = { leadId, channel: "whatsapp", message: "Hello" };
  const { status, problem } = await call("send-message", { body });
  expect(status).toBe(404);
  expect(problem).toMatchObject({ code: "lead_not_found", detail });
});

describe("send-message rejects", () => {
  const valid = { leadId: "lead_1", channel: "whatsapp", message: "Hello" };

  test.each([
    [{}, "body channel required", "body leadId required", "body message required"],
    [{ ...valid, leadId: "" }, "body leadId too_short"],
    [{ ...valid, leadId: long(65) }, "body leadId too_long"],
    [{ ...valid, leadId: 5 }, "body leadId wrong_type"],
    [{ ...valid, channel: "" }, "body channel too_short"],
    [{ ...valid, channel: long(65) }, "body channel too_long"],
    [{ ...valid, channel: "a\u0007" }, "body channel invalid_characters"],
    [{ ...valid, channel: null }, "body channel wrong_type"],
    [{ ...valid, message: "" }, "body message blank"],
    [{ ...valid, message: " \r\n\t " }, "body message blank"],
    [{ ...valid, message: long(4097) }, "body message too_long"],
    [{ ...valid, message: long(60_000) }, "body message too_long"],
    [{ ...valid, message: "a\0" }, "body message invalid_characters"],
    [{ ...valid, message: "a\ud83d" }, "body message invalid_characters"],
    [{ ...valid, message: { text: "a" } }, "body message wrong_type"],
  ])("%j", async (body, ...expected) => {
    expect((await listFaults("send-message", { body })).sort()).toEqual(expected);
  });
});
