import { conversations, leads } from "../account.ts";
import { type Check, promises } from "../check.ts";
import { type HttpResponse, posting, type Sending } from "../client.ts";
import { expectMatch, expectResponse } from "../expectations.ts";

interface Problem {
  readonly errors: readonly Readonly<Record<"in" | "field" | "code", string>>[];
}

/** Expects a problem with these faults, each as `in field code`, in any order. @throws Failure */
export function expectFaults(response: HttpResponse, faults: readonly string[], status = 400) {
  const code = status === 415 ? "unsupported_media_type" : "invalid_input";
  const headers = { "content-type": "application/problem+json" };
  const { errors = [] } = expectResponse<Problem>(response, { status, headers, body: { status, code } });
  const seen = errors.map((fault) => `${fault.in} ${fault.field} ${fault.code}`);
  expectMatch(response.request, seen.sort(), faults.toSorted());
}

/** A request, and the fields of its body, or else the parameters, that have a fault. */
type Case = readonly [Sending, ...fields: string[]];

/** All faults of these requests have one code. */
const rejects =
  (code: string, ...cases: readonly Case[]): Check["run"] =>
  async ({ mine }) => {
    for (const [sending, ...fields] of cases) {
      const response = await mine.send(sending);
      const body = Buffer.isBuffer(sending.body) ? sending.body.toString("hex") : sending.body;
      const request = `${response.request} ${JSON.stringify(body)?.slice(0, 200) ?? ""}`;
      const place = sending.method === "POST" || sending.body !== undefined ? "body" : "query";
      expectFaults(
        { ...response, request },
        fields.map((field) => `${place} ${field} ${code}`),
      );
    }
  };

const long = (length: number, unit = "x") => unit.repeat(length);
const post = (body: unknown) => posting(leads, body);
const lead = (fields: object) => post({ name: "Ada", ...fields });
const update = (fields: object) => posting(`${leads}?ifExists=update`, { externalId: "crm-1", ...fields });
const message = (fields: object) =>
  posting(conversations, { leadId: "lead_1", channel: "web", message: "Hello", ...fields });

const template = { name: "welcome", language: "en_US" };

const leadsBy = (query: string): Sending => ({ path: `${leads}?${query}` });
const conversationsBy = (query: string): Sending => ({ path: `${conversations}?${query}` });

/** A parameter that both lists reject with each of these values. */
const lists = (parameter: string, ...values: readonly string[]) =>
  values
    .map((value) => `${parameter}=${value}`)
    .flatMap((query): Case[] => [
      [leadsBy(query), parameter],
      [conversationsBy(query), parameter],
    ]);

/** Bodies with a fault as a whole. */
const bodies = (...texts: readonly unknown[]) => texts.map((body): Case => [post(body), ""]);

/** A body of this many bytes, mostly spaces. */
const padded = (bytes: number) => `{"name":"Zo\u00eb"${" ".repeat(bytes - 15)}}`;

/** A body with bytes that are not UTF-8. */
const notUtf8 = (...bytes: readonly number[]) =>
  Buffer.concat([Buffer.from('{"name":"Ada '), Buffer.from(bytes), Buffer.from('"}')]);

export const faultChecks = [
  ...promises("docs/errors.md#errors", {
    "A 400 lists all faults of the query, the headers and the body at once": async ({ mine }) => {
      const body = { nmae: "Ada", email: "ada", tags: ["a", ""] };
      expectFaults(await mine.post(`${leads}?page=1`, body, { "idempotency-key": "a b" }), [
        "query page unknown",
        "header idempotency-key invalid_format",
        "body name required",
        "body nmae unknown",
        "body email invalid_format",
        "body tags[1] too_short",
      ]);
      const query = "page=0&x=1&status=new&status=";
      const faults = ["query page out_of_range", "query x unknown", "query status repeated"];
      expectFaults(await mine.send(leadsBy(query)), faults);
      expectFaults(await mine.send({ ...conversationsBy(query), body: {} }), [...faults, "body  unexpected"]);
    },
  }),
  ...promises("docs/errors.md#faults", {
    "A missing field or body is reported as required": rejects(
      "required",
      [post({}), "name"],
      [posting(conversations, {}), "leadId", "channel", "message"],
      [update({ externalId: undefined }), "externalId"],
      [message({ template: {} }), "template[name]", "template[language]"],
      ...bodies("", undefined),
    ),
    "A parameter or a field that the route does not define is unknown": rejects(
      "unknown",
      ...lists("Page", "1"),
      [leadsBy("leadId=x"), "leadId"],
      [conversationsBy("email=a@example.com"), "email"],
      [lead({ score: 5, status: "new", Name: "x" }), "score", "status", "Name"],
      [message({ status: "active" }), "status"],
    ),
    "A value of another JSON type, such as null, is of the wrong type": rejects(
      "wrong_type",
      [lead({ name: null, email: 5, source: {}, tags: "vip" }), "name", "email", "source", "tags"],
      [lead({ tags: ["a", null, 5] }), "tags[1]", "tags[2]"],
      [lead({ externalId: null, metadata: { a: 1, b: null } }), "externalId", "metadata[a]", "metadata[b]"],
      [update({ name: null, tags: null, metadata: null }), "name", "tags", "metadata"],
      [message({ leadId: 1, channel: true, message: ["a"] }), "leadId", "channel", "message"],
      ...bodies("[]", "null", '"name"'),
    ),
    "A status that no lead can have is not allowed": rejects(
      "not_allowed",
      [leadsBy("status=NEW"), "status"],
      [leadsBy("status=active"), "status"],
      [update({ status: "lost" }), "status"],
    ),
    "An empty text is too short": rejects(
      "too_short",
      [lead({ source: "", tags: ["a", ""] }), "source", "tags[1]"],
      [message({ leadId: "", channel: "" }), "leadId", "channel"],
      [leadsBy("source=&id="), "source", "id"],
      [lead({ externalId: "" }), "externalId"],
      [leadsBy("externalId=a,,b"), "externalId[1]"],
    ),
    "A name, a message or a label of spaces and invisible characters is blank": rejects(
      "blank",
      [post({ name: "" }), "name"],
      [lead({ name: "\u3164\u200b", source: " \u2800" }), "name", "source"],
      [message({ message: " \r\n\t" }), "message"],
      [leadsBy("source=%20"), "source"],
    ),
    "A text that is no email address has an invalid format": rejects(
      "invalid_format",
      [lead({ email: "ada@x" }), "email"],
      [leadsBy("email=ada"), "email"],
    ),
    "A parameter that occurs more than once is repeated": rejects("repeated", ...lists("page", "1&page=1")),
    "A field that occurs more than once is a duplicate key": rejects("duplicate_key", [
      post('{"name":"a","\\u006eame":"b"}'),
      "name",
    ]),
    "A query that is not UTF-8 has an invalid encoding": rejects(
      "invalid_encoding",
      ...lists("status", "%ff", "%zz", "%ed%a0%80"),
    ),
    "The body of a GET is unexpected": rejects("unexpected", [{ path: leads, body: {} }, ""]),
    "A body that is not JSON is invalid": rejects("invalid_json", ...bodies("{", "\ufeff{}", "name=x")),
    "A key that JavaScript reserves is forbidden": rejects(
      "forbidden_key",
      ...bodies('{"constructor":{"prototype":{}}}'),
    ),
  }),
  ...promises("README.md#routes-and-fields", {
    "A text of one character more than it may have is too long": rejects(
      "too_long",
      [
        lead({ name: long(201, "\u{1F600}"), source: long(65), tags: [long(65)] }),
        "name",
        "source",
        "tags[0]",
      ],
      [lead({ email: `${long(64, "a")}@${long(93, "b.")}comm` }), "email"],
      [lead({ externalId: long(161), addresses: { sms: [long(161)] } }), "externalId", "addresses[sms][0]"],
      [message({ leadId: long(65), channel: long(65) }), "leadId", "channel"],
      [message({ message: long(4097, "\u{1F600}") }), "message"],
      [conversationsBy(`channel=${long(65)}&id=${long(65)}`), "channel", "id"],
    ),
    "A score is a whole number from 0 to 100": rejects(
      "out_of_range",
      ...[-1, 101].map((score): Case => [update({ score }), "score"]),
    ),
    "A lead has at most 50 tags": rejects("too_many", [lead({ tags: Array(51).fill("t") }), "tags"]),
  }),
  ...promises("docs/usage.md#input", {
    "Control characters and unpaired surrogates are invalid": rejects(
      "invalid_characters",
      [lead({ name: "a\nb", source: "a\t", tags: ["\u001b"] }), "name", "source", "tags[0]"],
      [lead({ name: "a\ud800b", tags: ["\u0085"] }), "name", "tags[0]"],
      [message({ message: "\u0085" }), "message"],
      [message({ channel: "\u0007", message: "a\0" }), "channel", "message"],
      ...["a b", "a,b", "a\u200bb"].map((externalId): Case => [lead({ externalId }), "externalId"]),
      [message({ template: { ...template, name: "Welcome" } }), "template[name]"],
      [message({ template: { ...template, parameters: ["a\nb"] } }), "template[parameters][0]"],
      [message({ metadata: { "a\nb": "a", b: "a\0" } }), "metadata[a\nb]", "metadata[b]"],
      [leadsBy("source=%00"), "source"],
    ),
    "A request that is refused stores nothing": ({ mine }) =>
      mine.expectNothingStored(async () => {
        for (const sending of [
          lead({ x: 1 }),
          lead({ tags: [""] }),
          posting(`${leads}?x=1`, { name: "Ada" }),
        ])
          expectResponse(await mine.send(sending), { status: 400 });
        const text = posting(leads, '{"name":"Ada"}', { "content-type": "text/plain" });
        expectResponse(await mine.send(text), { status: 415 });
      }),
  }),
  ...promises("docs/usage.md#filters", {
    "A time that is no RFC 3339 timestamp has an invalid format": rejects(
      "invalid_format",
      ...lists("createdAfter", "now", "2026-01-31", "2026-01-31T09:30:00", "2026-01-31T09:30:00+01:00"),
      ...lists("createdBefore", "2026-02-30T09:30:00Z"),
      [leadsBy("updatedAfter=now&updatedBefore="), "updatedAfter", "updatedBefore"],
      [conversationsBy("awaitingReply=true&awaitingReplyAfter=now"), "awaitingReplyAfter"],
    ),
    "A createdBefore that is earlier than createdAfter is out of range": rejects(
      "out_of_range",
      ...lists("createdBefore", "2026-01-31T09:30:00Z&createdAfter=2026-01-31T09:30:00.001Z"),
      [leadsBy("updatedAfter=2026-01-02T00:00:00Z&updatedBefore=2026-01-01T00:00:00Z"), "updatedBefore"],
    ),
    "The id of another kind of record has an invalid format": rejects(
      "invalid_format",
      [leadsBy("id=conv_1"), "id"],
      [conversationsBy("id=lead_1"), "id"],
      [conversationsBy("leadId=conv_1"), "leadId"],
      [conversationsBy("leadId=msg_1"), "leadId"],
    ),
  }),
  ...promises("docs/usage.md#pages", {
    "A page is a whole number from 1 to 999,999,999, in plain digits": rejects(
      "out_of_range",
      ...lists("page", "0", "-1", "1e1", "2.0", "%2B5", "01", "", "x", "1000000000"),
    ),
    "A limit is a whole number from 1 to 100, in plain digits": rejects(
      "out_of_range",
      ...lists("limit", "0", "-1", "101", "1e1", "20.0", "020"),
    ),
  }),
  ...promises("docs/errors.md#sizes-and-encodings", {
    "A body has at most 80 KB": rejects("too_large", ...bodies(padded(81_921), padded(5_000_000))),
    "A body has at most 1,000 values": rejects("too_many", ...bodies(`[${long(1100, "1,")}1]`)),
    "A body has at most 100 levels": rejects("too_deep", ...bodies(long(101, "[") + long(101, "]"))),
    "A body of 80 KB is stored, with any JSON content type": async ({ mine }) => {
      for (const type of [
        "application/json; charset=utf-8",
        "APPLICATION/JSON",
        "application/vnd.acme+json",
      ]) {
        const response = await mine.post(leads, padded(81_920), { "content-type": type });
        expectResponse(response, { status: 201, body: { name: "Zo\u00eb" } });
      }
    },
    "A body that is not UTF-8 has an invalid encoding": rejects(
      "invalid_encoding",
      ...bodies(notUtf8(0xeb), notUtf8(0xed, 0xa0, 0x80), notUtf8(0xc0, 0xaf)),
      [posting(leads, notUtf8(0xeb), { "content-type": "application/vnd.acme+json" }), ""],
    ),
    "U+FFFD itself can be sent, as a character or as an escape": async ({ mine }) => {
      for (const body of ['{"name":"Zo\ufffd"}', '{"name":"Zo\\ufffd"}'])
        expectResponse(await mine.post(leads, body), { status: 201, body: { name: "Zo\ufffd" } });
    },
  }),
  ...promises("docs/errors.md#problem-codes", {
    "A body that is not declared as JSON, or is compressed, returns 415": async ({ mine }) => {
      for (const type of ["text/plain", "text/json", "application/x-www-form-urlencoded", ""]) {
        const response = await mine.post(leads, '{"name":"Ada"}', { "content-type": type });
        expectFaults(response, ["header content-type unsupported"], 415);
      }
      const response = await mine.post(leads, Buffer.from([0x1f, 0x8b]), { "content-encoding": "gzip" });
      expectFaults(response, ["header content-encoding unsupported"], 415);
      expectMatch("the headers", response.headers, { "accept-encoding": "identity" });
    },
  }),
];
