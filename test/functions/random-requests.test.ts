import { readFileSync } from "node:fs";
import { Ajv2020 } from "ajv/dist/2020.js";
import { fullFormats } from "ajv-formats/dist/formats.js";
import fc from "fast-check";
import { expect, test, vi } from "vitest";
import type { Item } from "../../shared/dynamodb/table-client.ts";
import { type RouteName, routes } from "../../shared/routes.ts";
import type { OpenedConversation } from "../../shared/schemas/conversation-schemas.ts";
import { fieldsOf } from "../../shared/schemas/record.ts";
import { call } from "../support/call.ts";
import { expectNothingSentIn } from "../support/leaks.ts";
import { useMemoryTable } from "../support/memory-leads.ts";
import { aLead, aMessage } from "../support/requests.ts";
import { noteSent, sent } from "../support/sent.ts";

/** What clients are told that they may send. */
const document = JSON.parse(readFileSync("docs/openapi.json", "utf8"));
const ajv = new Ajv2020({ strict: false, allErrors: true, formats: fullFormats });
const keyPattern = new RegExp(document.components.parameters.IdempotencyKey.schema.pattern);

/** What the test reads of a schema of the document. */
interface Schema {
  readonly type?: unknown;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
  readonly enum?: readonly unknown[];
  readonly examples?: readonly unknown[];
  readonly maxLength?: number;
}

/** The schema of the query of a route. */
function querySchema(route: RouteName): Schema {
  const { parameters } = document.paths[routes[route].path][routes[route].method.toLowerCase()];
  const query = parameters.filter((one: { in?: string }) => one.in === "query");
  const named = query.map(({ name, schema }: { name: string; schema: object }) => [name, schema]);
  return Object.assign(
    { type: "object" },
    { properties: Object.fromEntries(named), additionalProperties: false },
  );
}

const { NewLead, NewMessage, NewTemplate, MessageUpdate, ConversationUpdate } = document.components.schemas;
const { name, language, parameters } = NewTemplate.properties;
NewTemplate.examples = [
  { name: name.examples[0], language: language.examples[0], parameters: parameters.examples[0] },
];
NewMessage.properties.template = NewTemplate;
const { id: _id, status: _status, score: _score, ...newFields } = NewLead.properties;
const newLead: Schema = { ...NewLead, properties: newFields, required: ["name"] };

/** A kind of requests: its route, its body, and the parameter that chooses it. */
interface Kind {
  readonly route: RouteName;
  readonly body?: Schema;
  readonly chosen?: Member;
}

const kinds: readonly Kind[] = [
  { route: "list-leads" },
  { route: "list-conversations" },
  { route: "create-lead", body: newLead },
  { route: "create-lead", body: NewLead, chosen: ["ifExists", "update"] },
  { route: "send-message", body: NewMessage },
  { route: "send-message", body: MessageUpdate, chosen: ["update", "message"] },
  { route: "send-message", body: ConversationUpdate, chosen: ["update", "conversation"] },
];

/** A field or a parameter; the value of a parameter is null if no text can be it. */
type Member = readonly [name: string, value: unknown];

const toName = (part: string) => part.replaceAll("~1", "/").replaceAll("~0", "~");
const isArray = (name: string) => /^(?:id|externalId|address)$/.test(name);

/** Whether a value has visible ASCII only, which the document's patterns are about, and is no map or id of another kind. */
const isPlain = (value: unknown) => /^(?!"(?:conv|msg)_|""$|\{|null$)[!-[\]-~]*$/.test(JSON.stringify(value));

/** The members with a fault that the document knows, as responses name them. */
function documentedFaults(members: readonly Member[], schema: object, place: string): string[] {
  const object = Object.fromEntries(members);
  ajv.validate(schema, object);
  const wrong = (ajv.errors ?? []).map(({ instancePath, params, propertyName = params.propertyName }) => {
    const [, ...path] = instancePath.split("/").map(toName);
    const member = propertyName ?? params.missingProperty ?? params.additionalProperty;
    const [name = "", ...places] = member === undefined ? path : [...path, member];
    const isOnly = isArray(name) && (object[name] as unknown[])?.length === 1;
    return isOnly ? name : name + places.map((place) => `[${place}]`).join("");
  });
  const names = members.map(([name]) => name);
  const repeated = names.filter((name, n) => names.indexOf(name) < n);
  return [...wrong, ...repeated].map(
    (name) => `${place} ${name.length > 64 ? `${name.slice(0, 64)}…` : name || '""'}`,
  );
}

/** The codes of rules that no schema can tell, because they are about several values. */
const ofSeveral = /^(?:not_allowed|required|too_large|too_many|duplicate_key)$/;

const mostly = <T>(good: fc.Arbitrary<T>, ...bad: fc.Arbitrary<unknown>[]): fc.Arbitrary<T> =>
  fc.oneof({ weight: 15, arbitrary: good }, ...(bad as fc.Arbitrary<T>[]));
const words = (texts: string) => fc.constantFrom(...texts.split(" "));

const odd = fc.constantFrom(..." \"\\/'%#?=+,;&ßİ字\u00a0\u200d\u2028\ufeff\ufffd\uffff\u{1F600}");
const good = fc.string({ unit: fc.oneof(words("a Z 9 -"), odd), maxLength: 9 }).map((end) => `a${end}`);
const bad = fc.constantFrom("", " \u3000", "a\0", "\u0085", "a\nb", "\ud800", "\udc00\ud800", "\u001b[2J");
const around = (length: number) =>
  fc
    .tuple(fc.constantFrom(length - 1, length, length + 1), words("x ß İ \u{1F600}"))
    .map(([count, unit]) => unit.repeat(count));
/** A text of a field of this maximal length. */
const textOf = (length: number) =>
  mostly(good, bad, around(length), around(length), fc.string({ unit: "binary" }));
const text = textOf(64);
/** How a value is sent in a query. */
const toText = (value: unknown) =>
  (typeof value === "object" && !Array.isArray(value) ? JSON.stringify(value) : String(value)).toWellFormed();
/** Without PHP's [], which is taken for {}. */
const json = fc.jsonValue().filter((value) => JSON.stringify(value) !== "[]");
const strays = fc.tuple(
  fc.oneof(words("name email leadId message page limit id Name score pk toString __proto"), text),
  fc.oneof(text, json),
);

const hex = (unit: string) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`;
const insert = (json: string, at: number, ...bytes: number[]) =>
  Buffer.concat([Buffer.from(json.slice(0, at)), Buffer.from(bytes), Buffer.from(json.slice(at))]);

/** Ways to send a body; all but the first two spoil it as a whole, some at a place in it. */
const forms: readonly ((json: string, at: number) => string | Buffer)[] = [
  (json) => json,
  (json) => json.replace(/[^\r\n -~]/g, hex),
  (json, at) => json.slice(0, at),
  (json) => `\ufeff${json}`,
  (json) => `${json}\0`,
  (json) => `{"a":${"[".repeat(100)}${"]".repeat(100)},${json.slice(1)}`,
  (json) => `{"__proto__":{},${json.slice(1)}`,
  (json) => Buffer.from(json, "utf16le"),
  (json, at) => insert(json, at, 0xff),
  (json, at) => insert(json, at, 0xed, 0xa0, 0x80),
];

/** Ways to send a text in a query; all but the first three are not UTF-8. */
const encodings: readonly ((text: string) => string)[] = [
  encodeURIComponent,
  (text) => encodeURIComponent(text).replaceAll("%20", "+"),
  (text) => Buffer.from(text).toString("hex").replace(/../g, "%$&"),
  ...["%", "%zz", "%ff", "%ed%a0%80"].map((end) => (text: string) => encodeURIComponent(text) + end),
];

/**
 * Requests of a kind, with some of its fields and parameters, and others.
 *
 * @param known values that name something
 */
function requestOf(kind: Kind, known: Readonly<Record<string, fc.Arbitrary<unknown>>>) {
  const membersOf = ({ properties = {}, required = [] }: Schema, most = Number.POSITIVE_INFINITY) => {
    const isChosen = (name: string) => required.includes(name) || /^(?:ifExists|update)$/.test(name);
    const optional = Object.keys(properties).filter((name) => !isChosen(name));
    const valuesOf = (name: string) => {
      const { enum: choices, examples = [], maxLength } = properties[name] ?? {};
      const valid = known[name] ?? fc.constantFrom(...(choices ?? examples));
      return fc.oneof(
        { weight: 18, arbitrary: valid },
        { weight: 3, arbitrary: textOf(maxLength ?? 64) },
        json,
      );
    };
    const own = fc
      .subarray(optional, { maxLength: Math.min(most, optional.length) })
      .chain((some) =>
        fc.tuple(...[...required, ...some].map((name) => fc.tuple(fc.constant(name), valuesOf(name)))),
      );
    const more = mostly(fc.constant<Member[]>([]), fc.array(strays, { minLength: 1, maxLength: 2 }));
    return fc.tuple(own, more).map((all): Member[] => all.flat());
  };
  return fc.record({
    kind: fc.constant(kind),
    query: membersOf(querySchema(kind.route), 3),
    encoding: mostly(fc.nat(2), fc.nat(encodings.length - 1)),
    body: kind.body
      ? mostly(membersOf(kind.body), fc.constant(undefined))
      : mostly(fc.constant(undefined), fc.constant([])),
    form: mostly(fc.nat(1), fc.nat(forms.length - 1), fc.nat(forms.length - 1)),
    at: fc.nat(),
    type: mostly(
      words("application/json APPLICATION/JSON;charset=utf-8 application/a+json"),
      words("text/plain application/jsonp"),
    ),
    isBase64Encoded: fc.boolean(),
    key: fc.option(fc.oneof(fc.uuid(), text, fc.stringMatching(/^"?[ -~]{0,260}"?$/))),
  });
}

type Sent = ReturnType<typeof requestOf> extends fc.Arbitrary<infer T> ? T : never;

/** The text of a body, its bytes, and whether it is refused as a whole. */
function render({ body = [], form, at }: Sent, isSent: boolean) {
  const json = `{${body.map((member) => member.map((part) => JSON.stringify(part)).join(" :")).join("\r\n,")}}`;
  const bytes = Buffer.from(isSent ? (forms[form]?.(json, at % json.length) ?? "") : "");
  return { bytes, isRefused: form > 1 || bytes.length > 81_920 || /"__proto__" ?:/.test(json) };
}

/** The parameters as they are parsed; ids that are repeated are one parameter. */
function parse({ kind: { route, chosen }, query, encoding }: Sent): Member[] {
  const { properties = {} } = querySchema(route);
  const isOther = (id: string) => id.startsWith(route === "list-conversations" ? "lead_" : "conv_");
  const arrays = Object.keys(properties).filter(isArray);
  const lists = arrays.flatMap((array): Member[] => {
    const parts = query.flatMap(([name, value]) => (name === array ? toText(value).split(",") : []));
    const ids = array === "id" ? parts.map((part) => part.trim()) : parts;
    const values = ids.map((id) => (array === "id" && isOther(id) ? null : id));
    return ids.length > 0 ? [[array, encoding > 2 ? null : values]] : [];
  });
  const others = query.filter(([name]) => !arrays.includes(name));
  return [
    ...(chosen ? [chosen] : []),
    ...lists,
    ...others.map(([name, value]): Member => {
      const text = toText(value);
      const isNone = encoding > 2 || (name === "leadId" && text.startsWith("conv_"));
      const isNumber = properties[name]?.type === "integer" && /^[1-9]\d*$/.test(text);
      return [name.toWellFormed(), isNone ? null : isNumber ? Number(text) : text];
    }),
  ];
}

/** Creates a lead and its conversation, which waits for a reply. @returns their records */
async function makeRecords(account: string) {
  const lead = await aLead(account, { externalId: "crm-1" });
  await aMessage(account, lead.id);
  await aMessage(account, lead.id, "whatsapp", { direction: "inbound" });
  const { id } = (await call("list-conversations", { account })).body.data[0] ?? {};
  const { body } = await call("list-conversations", { account, query: `include=messages&id=${id}` });
  const [{ messages = [], ...conversation }] = body.data as [OpenedConversation];
  return { account, lead, messages, conversation };
}

/** Whether a body names what its account has. */
function isOwn(schema: unknown, input: Item, own: Awaited<ReturnType<typeof makeRecords>>): boolean {
  const { lead, messages, conversation } = own;
  if (schema === NewMessage) return input.leadId === lead.id;
  if (schema === NewLead) return input.id === undefined || input.id === lead.id;
  if (schema === ConversationUpdate) return input.id === conversation.id;
  if (schema !== MessageUpdate) return true;
  return input.conversationId === conversation.id && messages.some(({ id }) => id === input.id);
}

test("random requests are carried out as the document says, or refused for all that is wrong and change nothing", async () => {
  const memory = useMemoryTable();
  const lines: string[] = [];
  const note = (line: unknown) => void lines.push(JSON.stringify(line));
  vi.spyOn(console, "info").mockImplementation(note);
  const error = vi.spyOn(console, "error").mockImplementation(note);
  const [own, other] = [await makeRecords("one"), await makeRecords("two")];
  const start = memory.snapshot();
  const items = () => Array.from(memory.items());
  const before = items();
  const { account, lead, conversation } = own;
  const leads = fc.constantFrom(lead.id, lead.id, other.lead.id);
  const conversations = fc.constantFrom(conversation.id, conversation.id, other.conversation.id);
  const messages = fc.constantFrom(...[own, other].flatMap(({ messages }) => messages.map(({ id }) => id)));
  const known = {
    leadId: leads,
    conversationId: conversations,
    externalId: fc.constantFrom("crm-1", "hubspot:4711"),
  };
  const idsOf = ({ route, body }: Kind) =>
    body === MessageUpdate ? messages : /leads?$/.test(route) ? leads : conversations;
  const request = fc.oneof(...kinds.map((kind) => requestOf(kind, { ...known, id: idsOf(kind) })));
  const statuses = new Set<number>();

  const property = fc.asyncProperty(request, async (sending) => {
    memory.restore(start);
    sent.clear();
    lines.length = 0;
    const { kind, body = [], type, key, isBase64Encoded } = sending;
    const { route, body: schema } = kind;
    const { bytes, isRefused } = render(sending, sending.body !== undefined);
    const parameters = parse(sending);
    const encode = encodings[sending.encoding] as (text: string) => string;
    const query = [
      ...(kind.chosen ? [kind.chosen.join("=")] : []),
      ...sending.query.map(
        ([name, value]) => `${encodeURIComponent(name.toWellFormed())}=${encode(toText(value))}`,
      ),
    ].join("&");
    noteSent(...sending.query.flat(), ...body.flat(), key);
    const headers = { "content-type": type, "content-length": String(bytes.length) };
    const response = await call(route, {
      ...{ account, query, isBase64Encoded },
      headers: { ...headers, ...(key !== null && { "idempotency-key": key }) },
      ...(bytes.length > 0 && { body: bytes.toString(isBase64Encoded ? "base64" : "utf8") }),
    });
    const { status = 0, problem } = response;
    statuses.add(status);
    expectNothingSentIn(lines);

    const isUnsupported = schema && bytes.length > 0 && /^text|jsonp$/.test(type);
    const isWhole = schema ? bytes.length === 0 || isRefused : bytes.length > 0;
    const faults = isUnsupported
      ? ["header content-type"]
      : [
          ...documentedFaults(parameters, querySchema(route), "query"),
          ...(schema && key !== null && !keyPattern.test(key.trim()) ? ["header idempotency-key"] : []),
          ...(isWhole ? ["body "] : schema ? documentedFaults(body, schema, "body") : []),
        ];
    const seen = (problem.errors ?? []).map((fault) => ({ ...fault, name: `${fault.in} ${fault.field}` }));
    expect(seen.map(({ name }) => name)).toEqual(expect.arrayContaining(faults));
    // All else that is wrong is a value that is not plain, or what several values have together.
    const sentValues = Object.fromEntries([...parameters, ...body]);
    const others = seen.filter(({ name, code }) => !faults.includes(name) && !ofSeveral.test(code));
    expect(others.filter(({ field }) => isPlain(sentValues[field.replace(/\[.*/s, "")]))).toEqual([]);
    const isKnown = isOwn(schema, Object.fromEntries(body), own);
    const statusesOfValid = isKnown ? [routes[route].success, 200, 409] : [404];
    const expected = seen.length > 0 ? [isUnsupported ? 415 : 400] : statusesOfValid;
    expect(expected).toContain(status);
    const isWritten = schema !== undefined && status < 300;
    if (!isWritten) expect(items()).toEqual(before);
    if (status === 200 && !schema) {
      const { page = 1, limit = 20 } = Object.fromEntries(parameters);
      const row = route === "list-leads" ? lead : conversation;
      const total = page === 1 ? Reflect.get(response.body, "data").length : expect.any(Number);
      expect([[], [expect.objectContaining(row)]]).toContainEqual(Reflect.get(response.body, "data"));
      expect(response.body).toMatchObject({ pagination: { page, limit, total } });
    }
    if (!isWritten) return;
    expect(items().map(fieldsOf)).toContainEqual(expect.objectContaining(response.body));
    const ofOther = (items: readonly Item[]) =>
      items.filter(({ pk }) => String(pk).includes(`#${other.account}`));
    expect(ofOther(items())).toEqual(ofOther(before));
    const asSent = body.filter(([name, value]) => /^(?:name|tags|message)$/.test(name) && value !== null);
    expect(response.body).toMatchObject(Object.fromEntries(asSent));
  });
  await fc.assert(property, { numRuns: Number(process.env.CASES ?? 300) });
  expect(error).not.toHaveBeenCalled();
  // It sees each kind of response. A conflict is rare.
  expect([...statuses]).toEqual(expect.arrayContaining([200, 201, 400, 404, 415]));
});
