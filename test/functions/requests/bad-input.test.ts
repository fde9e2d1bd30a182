import { describe, expect, test } from "vitest";
import type { RouteName } from "../../../shared/routes.ts";
import { leadsQuery, newLead } from "../../../shared/schemas/lead-schemas.ts";
import { call } from "../../support/requests/call.ts";
import type { TestRequest } from "../../support/requests/events.ts";
import { useTable } from "../../support/tables/watched-table.ts";

useTable();

/** Sends an invalid request. @returns its problem */
async function refuse(name: RouteName, request: TestRequest, status = 400) {
  const { problem, ...response } = await call(name, request);
  expect(response.status, JSON.stringify(problem)).toBe(status);
  for (const { field, message } of problem.errors?.slice(0, 5) ?? [])
    expect(problem.detail).toContain(`${field || "body"} ${message}`);
  return { ...response, problem, faults: problem.errors ?? [] };
}

/** The faults of an invalid request, each as `field code`. */
const listFaults = async (name: RouteName, request: TestRequest, status?: number) =>
  (await refuse(name, request, status)).faults.map(({ field, code }) => `${field} ${code}`);

const time = "2026-01-01T00:00:00Z";
const posts = ["create-lead", "send-message"] as const;
const long = (length: number, unit = "x") => unit.repeat(length);

test.each([
  [long(30_000, "["), "invalid_json"],
  [long(100, "[") + long(100, "]"), "wrong_type"],
  [long(101, "[") + long(101, "]"), "too_deep"],
  [long(51, '{"a":[') + long(51, "]}"), "too_deep"],
  [`[${long(998, "1,")}1]`, "wrong_type"],
  [`[${long(999, "1,")}1]`, "too_many"],
  [`[${long(400, "[],")}[]]`, "wrong_type"],
  [`[${long(500, "[],")}[]]`, "too_many"],
  ['{"name":"a","__proto__":{}}', "forbidden_key"],
  // Brackets and commas in strings do not count.
  [`["${long(2000, "[{,")}","\\"${long(2000, ",[")}"]`, "wrong_type"],
])("the body %j has one fault", async (body, code) => {
  for (const name of posts) expect(await listFaults(name, { body })).toEqual([` ${code}`]);
});

/** The message of the one fault of a body that is not JSON. */
async function jsonFault(body: string) {
  const { faults } = await refuse("create-lead", { body });
  expect(faults).toMatchObject([{ in: "body", field: "", code: "invalid_json" }]);
  return faults[0]?.message;
}

test.each([
  ['{"name":', ": unexpected end of JSON input"],
  ['{"name":"Ada"', ": expected ',' or '}' after property value at line 1, column 14"],
  ['{\r\n  "name": "Ada",\n}', ": expected double-quoted property name at line 3, column 1"],
  ['{"name":"Ada"}{}', ": unexpected non-whitespace character after JSON at line 1, column 15"],
  ['{"name":"a\tb"}', ": bad control character in string literal at line 1, column 11"],
  ['{"name":Ada}', ": unexpected token 'A'"],
  ["name=Ada&email=ada%40example.com", ": unexpected token 'a'"],
  ['{"tags":["vip",\n]}', ": unexpected token ']'"],
  ['{"name":\'', ": unexpected token '''"],
  ["\0", ": unexpected token U+0000"],
  ["\ufeff{}", ": unexpected token U+FEFF"],
  ['{"name":\u201cAda\u201d}', ": unexpected token U+201C"],
  ["\u{1F600}", ": unexpected token U+D83D"],
  ["NaN", ""],
])("the message of the body %j has V8's reason and no more", async (body, reason) => {
  expect(await jsonFault(body)).toBe(`must be valid JSON${reason}`);
});

test("no message repeats more than one character of the body", async () => {
  const open = '{"name":"Ada","tags":["vip",{"a":null}],"score":-1.5e2,"isNew":true';
  for (const secret of ["ZQXJ", '"ZQXJ', "\tZQXJ", "\\ZQXJ", "\u00e9ZQXJ", '", "ZQXJ'])
    for (let at = 0; at <= open.length; at++)
      expect(await jsonFault(open.slice(0, at) + secret + open.slice(at))).not.toMatch(/[ZQXJ]{2}/);
});

test("the response to 100 faults with long names has less than 64 KB", async () => {
  const names = Array.from({ length: 100 }, (_, n) => [n + long(100, "\0"), 1]);
  const { problem } = await refuse("create-lead", { body: Object.fromEntries(names) });
  expect(problem.errors).toHaveLength(100);
  expect(problem.detail).toMatch(/; and more\.$/);
  expect(Buffer.byteLength(JSON.stringify(problem))).toBeLessThan(64 * 1024);
});

test.each([
  ['{"a":1,"a":1}', "a"],
  ['{"a":1,"b":2,"a":3,"b":4,"a":5}', "a", "b"],
  ['{"":1,"":2}', '""'],
  ['{"a":1,"A":2,"a ":3}'],
  ['{ "a"\t:\r\n1 , "a" : 2 }', "a"],
  // Names are compared after unescaping.
  ['{"a":1,"\\u0061":2}', "a"],
  ['{"\\/":1,"/":2,"\\u002F":3,"\\u002f":4}', "/"],
  ['{"\\"":1,"\\u0022":2}', '"'],
  ['{"\\\\":1,"\\\\":2}', "\\"],
  ['{"\\\\u0061":1,"a":2}'],
  ['{"\\ud83d\\ude00":1,"😀":2}', "😀"],
  ['{"é":1,"e\u0301":2}'],
  // Within one object.
  ['{"a":{"a":1},"b":{"a":1}}'],
  ['{"a":{"b":1,"c":{"d":1,"d":1}},"e":1}', "a[c][d]"],
  ['{"a":{"b":1,"b":2},"a":{"b":1}}', "a[b]", "a"],
  ['{"a":[{"a":1},{"a":1},{"a":1,"a":1}]}', "a[2][a]"],
  ['{"a":[[],[{},{"a":1,"a":1}],5],"b":1,"b":1}', "a[1][1][a]", "b"],
  ['[{"a":1,"a":1},{"a":1}]', "[0][a]"],
  // Not in strings.
  ['{"a":"\\"a\\":1,\\"a\\":2","b":"{"}'],
  ['{"a":"\\\\","a":"}"}', "a"],
  ['{"a":",","b":["]",","],"c":{"d":"}","d":"{"}}', "c[d]"],
  ['{"toString":1,"constructor":2,"hasOwnProperty":3}'],
  [`{"${long(100)}":{"a":1,"a":2}}`, `${long(64)}…`],
])("all repeated names of a body are faults: %s", async (body, ...expected) => {
  const faults = await listFaults("create-lead", { body });
  const repeated = faults.filter((fault) => fault.endsWith(" duplicate_key"));
  expect(repeated).toEqual(expected.map((name) => `${name} duplicate_key`));
});

const leadsParameters = Object.keys(leadsQuery.properties).join(", ");
const notParameter = "is not a parameter of this route";
const notField = "is not a field of this route";
const leaveOut = "leave it out if it has no value";
const noSpaces = "must not contain spaces: in a query, + means a space, so send + as %2B";

describe("the message of a fault", () => {
  test.each<[RouteName, string | string[], ...string[]]>([
    [
      "list-leads",
      ["x=x", "after=x", "deletedAfter=x", "fields=x"],
      `* ${notParameter}, which takes ${leadsParameters}`,
    ],
    ["list-leads", "=1", `"" ${notParameter}, which takes ${leadsParameters}`],
    ["list-leads", "cursor=x", `* ${notParameter}, but page is`],
    ["create-lead", "page=1", `* ${notParameter}, which takes ifExists`],
    [
      "create-lead",
      "sort=updatedAt&page=101",
      `sort ${notParameter}, which takes ifExists`,
      `page ${notParameter}, which takes ifExists`,
    ],
    [
      "list-leads",
      "sort=lastMessageAt&page=101",
      "sort must be one of -createdAt, createdAt, -updatedAt, updatedAt",
    ],
    [
      "list-conversations",
      "sort=lastMessageAt&page=21&limit=100",
      "page must be at most 20 with this sort and limit: go on with lastMessageAfter",
    ],
    [
      "list-conversations",
      ["sort=createdAt", `lastMessageAfter=${time}`, `lastMessageBefore=${time}`].map(
        (other) => `${other}&awaitingReply=true`,
      ),
      "* cannot be combined with awaitingReply, which sorts by awaitingReplySince",
    ],
    [
      "list-conversations",
      [`awaitingReplyAfter=${time}`, `awaitingReplyBefore=${time}`],
      "* needs awaitingReply=true",
    ],
    ["list-leads", ["status=%ff", "id=%ff&id=lead_1", "status=%ed%a0%80"], "* must be percent-encoded UTF-8"],
    ["list-leads", ["email=a+b@example.com", "externalId=+4930"], `* ${noSpaces}`],
    ["list-leads", "externalId=a,+4930", `externalId[1] ${noSpaces}`],
    ["list-leads", "email=", `email must not be empty: ${leaveOut}`],
    ["list-leads", "id=", `id must have at least 1 character: ${leaveOut}`],
    [
      "list-leads",
      ["address=x", "address=:1", "address=sms:", "address=sms:a b"],
      "address must be a channel and an address, such as whatsapp:%2B4917700000001",
    ],
    ["list-leads", `address=${Array(101).fill("sms:1")}`, "address must have at most 100 items"],
    ["list-leads", "id=conv_1", "id is the id of a conversation, not of a lead"],
    ["list-leads", "id=lead_1%2Cconv_1", "id[1] is the id of a conversation, not of a lead"],
    ["list-leads", "id=msg_1", "id is the id of a message, not of a lead or a conversation"],
    ["list-conversations", "id=lead_1", "id is the id of a lead, not of a conversation"],
  ])("%s?%s", async (name, queries, ...messages) => {
    const body = name === "create-lead" ? { name: "Ada" } : undefined;
    for (const query of [queries].flat()) {
      const { faults } = await refuse(name, { query, body });
      const [parameter = ""] = query.split("=");
      const expected = messages.map((message) => message.replace(/^\*/, parameter));
      expect(faults.map(({ field, message }) => `${field} ${message}`)).toEqual(expected);
    }
  });

  test.each<[unknown, ...string[]]>([
    ...["note", "nmae"].map((name): [object, string] => [
      { name: "Ada", [name]: "1" },
      `${name} ${notField}, which takes ${Object.keys(newLead.properties).join(", ")}`,
    ]),
    [{ fullName: "Ada" }, "name is required", `fullName ${notField}, but name is`],
    [{ name: "Ada", status: "new" }, "status can be set only with ifExists=update"],
    [{ name: "Ada", id: "lead_1" }, "id can be set only with ifExists=update"],
    ...["a b", "\u2800", "\ufff9"].map((externalId): [object, string] => [
      { name: "Ada", externalId },
      "externalId must have visible characters only, without spaces and commas",
    ]),
    [{ name: "Ada", metadata: { "a/b~": null } }, "metadata[a/b~] must be a string, not null"],
    [
      { name: "Ada", metadata: { "": "x" } },
      "metadata[] must have a name of 1 to 40 characters, without control characters and unpaired surrogates",
    ],
    [
      { name: "Ada", metadata: Object.fromEntries(Array.from({ length: 6 }, (_, n) => [n, long(180)])) },
      "metadata must have at most 1024 bytes as JSON",
    ],
    ...["a:b", "a\uff0cb", "__PROTO__", `xx${"½".repeat(21)}`].map((channel): [object, string] => [
      { name: "Ada", addresses: { [channel]: ["1"] } },
      `addresses[${channel}] must be the name of a channel, without colons and commas, of at most 64 characters in its stored form`,
    ]),
    ...["", " ", "a b", "a,b", "\u200b"].map((address): [object, string] => [
      { name: "Ada", addresses: { sms: ["+49 (1) 2", address] } },
      address === ""
        ? "addresses[sms][1] must have at least 1 character"
        : "addresses[sms][1] must have visible characters only, without commas (blanks only in a telephone number)",
    ]),
    [{ name: "Ada", addresses: { sms: null } }, "addresses[sms] must be an array, not null"],
    [{ name: "Ada", addresses: "+4917700000001" }, "addresses must be a JSON object, not a string"],
    [
      { name: "Ada", addresses: { sms: ["1"], SMS: ["2"] } },
      "addresses[SMS] is another spelling of a channel that is already given",
    ],
    [
      { name: "Ada", addresses: { sms: [..."12345"], email: [..."123456"] } },
      "addresses must have at most 10 addresses of all channels",
    ],
    [{ name: null }, "name must be a string, not null"],
    [{ name: ["Ada"] }, "name must be a string, not an array"],
    [{ name: true }, "name must be a string, not true or false"],
    [{ name: "Ada", source: null }, `source must be a string, not null: ${leaveOut}`],
    [{ name: "Ada", tags: "vip" }, "tags must be an array, not a string"],
    [{ name: "Ada", tags: [null] }, "tags[0] must be a string, not null"],
    [{ name: "Ada", tags: [""] }, "tags[0] must have at least 1 character"],
    ...["\u200b", "\u3164", " \u2800\ufe0f"].map((blank): [object, ...string[]] => [
      { name: blank, source: blank, tags: [blank] },
      "name must not be blank: for a person without a visible name, send their handle or address",
      "source must not be blank",
    ]),
    [{ name: "Ada", source: "½".repeat(22) }, "source must have at most 64 characters in its stored form"],
    [{ name: "Ada", email: "" }, `email must not be empty: ${leaveOut}`],
    [{ name: long(201) }, "name must have at most 200 characters"],
    [{ name: "a\ud800" }, "name must not contain control characters or unpaired surrogates"],
    ["null", " must be a JSON object, not null"],
    ["", " must be present: a JSON object"],
    ["{'name':'Ada'}", " must be valid JSON: expected property name or '}' at line 1, column 2"],
  ])("create-lead %j", async (body, ...messages) => {
    const { faults } = await refuse("create-lead", { body });
    expect(faults.map(({ field, message }) => `${field} ${message}`)).toEqual(messages);
  });
});

const template = { name: "welcome", language: "en" };

test.each<[string, object, ...string[]]>([
  [
    "",
    { template: { name: "welcome", lang: "en", Parameters: ["Ada"] } },
    "template[language] is required",
    "template[lang] is not a field of this object, which takes name, language, parameters",
    "template[Parameters] is not a field of this object, but parameters is",
  ],
  [
    "",
    { message: "a\ud800" },
    "message must not contain control characters (line breaks and tabs are allowed) or unpaired surrogates",
  ],
  ["", { direction: "inbound", template }, "template can be sent only with an outbound message"],
  ["", { template: { ...template, parameters: ["Ada", " "] } }, "template[parameters][1] must not be blank"],
  [
    "",
    { template: { ...template, parameters: Array(3).fill(long(1024)) } },
    "template must have at most 3072 bytes as JSON",
  ],
  [
    "update=message",
    { delivery: "read", deliveryError: "131047" },
    "deliveryError can be sent only if delivery is failed",
  ],
  [
    "update=message",
    { delivery: "failed", deliveryError: "Given up: 503" },
    'deliveryError must not begin with "Given up: ", which the service keeps for its own deliveries',
  ],
])("send-message?%s %j", async (query, fields, ...messages) => {
  const message = { leadId: "lead_1", channel: "a", message: "Hello" };
  const body = { ...(query ? { id: "msg_1", conversationId: "conv_1" } : message), ...fields };
  const { faults } = await refuse("send-message", { query, body });
  expect(faults.map(({ field, message }) => `${field} ${message}`)).toEqual(messages);
});

test.each([
  [
    "not contain spaces or line breaks",
    ["Ada <ada@example.com>", "ada@example.com\n", "a\u00a0b@example.com"],
  ],
  [
    "have visible ASCII characters only, and an international domain in its xn-- form",
    ["zo\u00eb@example.com", "ada@m\u00fcnchen.de", "a\0b@example.com"],
  ],
  ["have an @", ["ada"]],
  ["be one address with one @", ["a@example.com,b@example.com", "ada@@example.com"]],
  [
    "be an email address such as ada@example.com",
    ["@example.com", "a..b@example.com", "ada@localhost", "ada@my_host.com"],
  ],
])("an email address must %s: not %j", async (rule, emails) => {
  for (const email of emails) {
    const { faults } = await refuse("create-lead", { body: { name: "Ada", email } });
    expect(faults).toMatchObject([{ field: "email", code: "invalid_format", message: `must ${rule}` }]);
  }
});

test("a write refuses a key under another name of Idempotency-Key, unless the key is sent as well", async () => {
  const message = "is not a header of this route: send the key as Idempotency-Key";
  for (const field of [
    ..."x-idempotency-key x_idempotency_key idempotency_key idempotencykey x-idempotencykey".split(" "),
    ..."idempotence-key idempotent-key idempotency-token cko-idempotency-key x-idempotent-key".split(" "),
    ..."idempotency-key-id my-idempotency-key indempotency-key idempotancy-key".split(" "),
  ]) {
    const headers = { [field]: "key" };
    for (const name of posts)
      expect((await refuse(name, { body: {}, headers })).faults.at(-1)).toMatchObject({ field, message });
    const both = { ...headers, "idempotency-key": "key" };
    expect(await listFaults("create-lead", { body: {}, headers: both })).toEqual(["name required"]);
    expect((await call("list-leads", { headers })).status).toBe(200);
  }
  for (const other of ["x-request-id", "x-correlation-key"])
    expect(await listFaults("create-lead", { body: {}, headers: { [other]: "key" } })).toEqual([
      "name required",
    ]);
});

const noJson = (sent: string) =>
  `content-type must be a JSON type, such as application/json: ${sent} was sent.`;
const compressed = "content-encoding must be absent: send the body uncompressed.";

test.each([
  [{ "content-type": undefined }, noJson("none")],
  [{ "content-type": "text/plain; charset=utf-8" }, noJson("text/plain")],
  [{ "content-type": "<b>x" }, noJson("another")],
  [{ "content-encoding": "GZIP" }, compressed],
  [{ "content-encoding": "identity, gzip" }, compressed],
])("a body with %j is refused: the %s", async (headers, detail) => {
  const { problem } = await refuse(
    "create-lead",
    { body: {}, headers: headers as Record<string, string> },
    415,
  );
  expect(problem.detail).toBe(`The ${detail}`);
});

test("a body of the encoding identity is accepted, as one without an encoding is", async () => {
  for (const encoding of ["", "identity", " Identity "]) {
    const request = { body: {}, headers: { "content-encoding": encoding } };
    expect(await listFaults("create-lead", request)).toEqual(["name required"]);
  }
});
