import { readFileSync } from "node:fs";
import { Ajv2020 } from "ajv/dist/2020.js";
import { fullFormats } from "ajv-formats/dist/formats.js";
import fc from "fast-check";
import { expect, test, vi } from "vitest";
import type { Item } from "../../../shared/dynamodb/table-client.ts";
import { type RouteName, routes } from "../../../shared/routes.ts";
import type { Conversation, Message } from "../../../shared/schemas/conversation-schemas.ts";
import type { Lead } from "../../../shared/schemas/lead-schemas.ts";
import { fieldsOf } from "../../../shared/schemas/record.ts";
import { call } from "../../support/requests/call.ts";
import { aLead, aMessage } from "../../support/requests/requests.ts";
import { noteSent, sent } from "../../support/requests/sent.ts";
import { expectNothingSentIn } from "../../support/setup/leaks.ts";
import { storedForm } from "../../support/tables/stored-form.ts";
import { WatchedTable } from "../../support/tables/watched-table.ts";

/** The document that tells clients what they may send, with schemas of the query and the body of each route. */
const document = JSON.parse(readFileSync("docs/openapi.json", "utf8"));
const ajv = new Ajv2020({ strict: false, allErrors: true, formats: fullFormats });
const keyPattern = new RegExp(document.components.parameters.IdempotencyKey.schema.pattern);
/** A field or a parameter. The value of a parameter is null if its text cannot be valid. */
type Member = readonly [name: string, value: unknown];

/** A new lead has a name and no field that is null. Other tests send addresses, metadata and templates. */
const { NewLead, NewMessage, MessageUpdate, ConversationUpdate } = document.components.schemas;
for (const name of ["id", "status", "score", "addresses", "metadata"]) delete NewLead.properties[name];
for (const name of ["template", "metadata"]) delete NewMessage.properties[name];
for (const name of ["email", "source"]) NewLead.properties[name].type = "string";
const newLead = { ...NewLead, required: ["name"] };

/** A new lead with few fields, so that most requests are valid. */
const small = { ...newLead, properties: { name: NewLead.properties.name } };

function schemasOf(route: RouteName, body?: typeof newLead) {
  const { parameters } = document.paths[routes[route].path][routes[route].method.toLowerCase()];
  const query = parameters.filter((one: { in?: string }) => one.in === "query");
  const named = query.map(({ name, schema }: { name: string; schema: object }) => [name, schema]);
  return {
    query: { type: "object", properties: Object.fromEntries(named), additionalProperties: false },
    body,
  };
}

const schemas = {
  "list-leads": schemasOf("list-leads"),
  "create-lead": schemasOf("create-lead", newLead),
  "list-conversations": schemasOf("list-conversations"),
  "send-message": schemasOf("send-message", NewMessage),
};

/** The schema of the body of a request. */
function bodySchema({ route, query }: Pick<Sent, "route" | "query">) {
  const [chosen, ...more] = query.filter(([name]) => name === "update");
  if (route !== "send-message" || !chosen) return schemas[route].body;
  return more.length === 0 && chosen[1] === "conversation" ? ConversationUpdate : MessageUpdate;
}

const isArray = (name: string) => /^(?:id|externalId)$/.test(name);

/** Whether a text has a fault that the patterns of the document do not see, because they are about ASCII. */
function isRefused(name: string, text: string): boolean {
  // An id with an unpaired surrogate is not refused, because no record has it.
  if (!idFields.test(name) && /[\u0080-\u009f\p{Cs}]/u.test(text)) return true;
  const { length } = [...storedForm(text)];
  return (textFields.test(name) && length === 0) || (labelFields.test(name) && length > 64);
}

const idFields = /^(?:leadId|id|conversationId)$/;
const textFields = /^(?:name|message|deliveryError|source|channel|status)$/;
const labelFields = /^(?:source|channel|status)$/;

const isVisible = (text: string) => !/[\s\p{Cc}\p{Cf}\p{Cs}\p{DI}\u2800]/u.test(text);

/** The members with a fault, as responses name them. */
function faultsOf(
  members: readonly Member[],
  schema: { readonly properties: object },
  place: string,
): string[] {
  const { properties } = schema;
  const object = Object.fromEntries(members);
  ajv.validate(schema, object);
  const wrong = (ajv.errors ?? []).map(({ instancePath, params }) => {
    const [, ...path] = instancePath.split("/");
    const member = params.missingProperty ?? params.additionalProperty;
    const [name = "", ...places] = member === undefined ? path : [...path, member];
    const isOnly = isArray(name) && (object[name] as unknown[])?.length === 1;
    return isOnly ? name : name + places.map((place) => `[${place}]`).join("");
  });
  const names = members.map(([name]) => name);
  const repeated = names.filter((name, n) => names.indexOf(name) < n);
  const texts = Object.entries(object).flatMap(([name, value]) =>
    name === "tags" && name in properties && Array.isArray(value)
      ? value.map((text, n) => [`tags[${n}]`, text])
      : [[name, value]],
  );
  const refused = texts.filter(([name, text]) => typeof text === "string" && isRefused(String(name), text));
  const hidden = ["externalId", "providerId"].flatMap((name) =>
    [object[name]].flat().flatMap((id, n, all) => {
      if (isVisible(String(id))) return [];
      return all.length > 1 ? `${name}[${n}]` : name;
    }),
  );
  return [...wrong, ...repeated, ...hidden, ...refused.map(([name]) => name)].map(
    (name) => `${place} ${name.length > 64 ? `${name.slice(0, 64)}…` : name || '""'}`,
  );
}

/** The parameters that cannot be combined with the others of a query. */
function misplaced(query: readonly Member[]): string[] {
  const has = (name: string) => query.some(([other]) => other === name);
  const wrong = has("awaitingReply")
    ? ["sort", "lastMessageAfter", "lastMessageBefore"]
    : ["awaitingReplyAfter", "awaitingReplyBefore"];
  return wrong.filter(has).map((name) => `query ${name}`);
}

const mostly = <T>(good: fc.Arbitrary<T>, ...bad: fc.Arbitrary<unknown>[]): fc.Arbitrary<T> =>
  fc.oneof({ weight: 15, arbitrary: good }, ...(bad as fc.Arbitrary<T>[]));
const words = (texts: string) => fc.constantFrom(...texts.split(" "));

const label = "Ü,&+%\u00a0\u{1F600}";
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
const number = mostly(words("1 2 100"), words("0 01 +1 1e1 101 999999999 1000000000 ٣"), text);
const time = (year: number) =>
  mostly(
    words(`${year}-01-31T09:30:00Z ${year}-01-31t09:30:00.1234-23:59`),
    words("now 2026-02-30T00:00:00Z"),
  );
const longest = `${"a".repeat(64)}@${"b.".repeat(93)}com`;
const email = mostly(
  words(`ada@example.com Ada@Example.com ${longest}`),
  words(`ada ada@x ${longest}m`),
  text,
);
const fullTags = fc.constantFrom(50, 51).map((length): string[] => Array(length).fill("t"));

/** Values of each field and parameter, mostly valid ones. */
const valuesOf = (
  leads: readonly string[],
  conversations: readonly string[],
  messages: readonly string[],
) => ({
  ...{ page: number, limit: number, createdAfter: time(2020), createdBefore: time(2040) },
  ...{ updatedAfter: time(2020), updatedBefore: time(2040) },
  ...{ lastMessageAfter: time(2020), lastMessageBefore: time(2040) },
  ...{ awaitingReplyAfter: time(2020), awaitingReplyBefore: time(2040) },
  awaitingReply: mostly(fc.constant("true"), text),
  direction: mostly(words("outbound inbound"), text),
  messageId: mostly(fc.constantFrom(...messages), text, fc.constantFrom(...conversations)),
  conversationId: mostly(fc.constantFrom(...conversations), text, fc.constantFrom(...messages)),
  delivery: mostly(fc.oneof(fc.constant("failed"), words("sent delivered read")), text),
  ...{ deliveryError: textOf(500), providerId: textOf(512) },
  ...{
    name: textOf(200),
    message: textOf(4096),
    tags: mostly(fc.array(text, { maxLength: 4 }), fullTags, fc.constant([1, null])),
  },
  ...{ source: mostly(fc.constant(label), text), channel: mostly(fc.constant(label), text), email },
  leadId: mostly(fc.constantFrom(...leads), text, fc.constantFrom(...conversations)),
  id: mostly(
    fc.array(fc.constantFrom(...leads, ...conversations), { minLength: 1, maxLength: 3 }).map(String),
    text,
    words("100 101").map((length) => String(Array(Number(length)).fill("x"))),
  ),
  status: mostly(words("new active"), words("NEW x"), text),
  externalId: mostly(fc.constantFrom("crm-1", "crm-2"), textOf(160)),
});
/** How a value is sent in a query: an object as JSON, because its `toString` may be a value. */
const toText = (value: unknown) => (typeof value === "string" ? value : JSON.stringify(value)).toWellFormed();
const strays = fc.tuple(
  fc.oneof(words("name email leadId message page limit id update Name score pk toString __proto"), text),
  fc.oneof(text, fc.jsonValue()),
);

const escapeUnit = (unit: string) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`;

/** Ways to send a text in a query. */
const encodings: readonly ((text: string) => string)[] = [
  encodeURIComponent,
  (text) => encodeURIComponent(text).replaceAll("%20", "+"),
  (text) => Buffer.from(text).toString("hex").replace(/../g, "%$&"),
];

/**
 * Requests to a route, mostly with its own fields and parameters and with valid values.
 *
 * @param body the schema of the body
 * @param chosen the parameter that chooses this schema
 */
function requestTo(
  route: RouteName,
  values: Readonly<Record<string, fc.Arbitrary<unknown>>>,
  body = schemas[route].body,
  chosen: readonly Member[] = [],
) {
  const { query } = schemas[route];
  const several = (names: fc.Arbitrary<string[]>) => {
    const own = names.chain((names) =>
      fc.tuple(...names.map((name) => fc.tuple(fc.constant(name), values[name] ?? text))),
    );
    const more = mostly(fc.constant<Member[]>([]), fc.array(strays, { minLength: 1, maxLength: 2 }));
    return fc.tuple(own, more).map((all): Member[] => all.flat());
  };
  const parameters = Object.keys(query.properties).filter(
    (name) => !/^(?:update|ifExists|address)$/.test(name),
  );
  const fields = Object.keys(body?.properties ?? {});
  const all = fc.shuffledSubarray(fields, { minLength: fields.length });
  return fc.record({
    route: fc.constant(route),
    isFirst: fc.boolean(),
    query: several(fc.subarray(parameters, { maxLength: Math.min(3, parameters.length) })).map((members) => [
      ...chosen,
      ...members,
    ]),
    encode: fc.constantFrom(...encodings),
    body: body
      ? several(mostly(all, fc.subarray(fields)))
      : mostly(fc.constant<Member[] | undefined>(undefined), fc.constant([])),
    isEscaped: fc.boolean(),
    isBase64Encoded: fc.boolean(),
    key: fc.option(fc.oneof(fc.uuid(), text, fc.stringMatching(/^"?[ -~]{0,260}"?$/))),
  });
}

type Sent = ReturnType<typeof requestTo> extends fc.Arbitrary<infer T> ? T : never;

/** The bytes of a body, in which a key can occur twice. */
function render({ body, isEscaped }: Sent): Buffer {
  if (!body) return Buffer.alloc(0);
  const json = `{${body.map((member) => member.map((part) => JSON.stringify(part)).join(" :")).join("\r\n,")}}`;
  return Buffer.from(isEscaped ? json.replace(/[^\r\n -~]/g, escapeUnit) : json);
}

/** The parameters as they are parsed. Repeated ids are one parameter. */
function parse({ route, query }: Sent): Member[] {
  const isOther = (id: string) => id.startsWith(route === "list-conversations" ? "lead_" : "conv_");
  const arrays: string[] = Object.keys(schemas[route].query.properties).filter(isArray);
  const others = query.filter(([name]) => !arrays.includes(name));
  const lists = arrays.flatMap((array): Member[] => {
    const parts = query.flatMap(([name, value]) => (name === array ? toText(value).split(",") : []));
    const ids = array === "id" ? parts.map((part) => part.trim()) : parts;
    const values = ids.map((id) => (array === "id" && isOther(id) ? null : id));
    return ids.length > 0 ? [[array, values]] : [];
  });
  return [
    ...lists,
    ...others.map(([name, value]): Member => {
      const text = toText(value);
      const isNumber = /^(?:page|limit)$/.test(name) && /^[1-9]\d*$/.test(text);
      const isOfAnother = name === "leadId" && text.startsWith("conv_");
      return [name.toWellFormed(), isOfAnother ? null : isNumber ? Number(text) : text];
    }),
  ];
}

/** Creates a lead and its conversation. @param isWaiting whether the lead waits for a reply @returns their records */
async function makeRecords(account: string, isWaiting: boolean) {
  const lead = await aLead(account, {
    ...{ name: account, source: label, email: "ada@example.com", externalId: "crm-1" },
  });
  const message = await aMessage(account, lead.id, label);
  if (isWaiting) await aMessage(account, lead.id, label, { direction: "inbound" });
  const { body } = await call("list-conversations", { account });
  return { account, lead, message, conversation: body.data[0] as Conversation };
}

type Records = Awaited<ReturnType<typeof makeRecords>>;

/** Whether a body names records that its account has. */
function isOwn(schema: object, input: Item, { lead, message, conversation }: Records): boolean {
  if (schema === NewMessage) return input.leadId === lead.id;
  if (schema === ConversationUpdate) return input.id === conversation.id;
  return schema !== MessageUpdate || (input.conversationId === conversation.id && input.id === message.id);
}

test("random requests are carried out as the document says, or are refused with all their faults and change nothing", async () => {
  const { memory } = new WatchedTable();
  const lines: string[] = [];
  const note = (line: unknown) => void lines.push(JSON.stringify(line));
  vi.spyOn(console, "info").mockImplementation(note);
  const error = vi.spyOn(console, "error").mockImplementation(note);
  const records = [await makeRecords("one", true), await makeRecords("two", false)] as const;
  const start = memory.snapshot();
  const items = () => Array.from(memory.items());
  const before = items();
  const values = valuesOf(
    records.map(({ lead }) => lead.id),
    records.map(({ conversation }) => conversation.id),
    records.map(({ message }) => message.id),
  );
  const statuses = new Map<number, number>();

  const externalId = mostly(fc.stringMatching(/^new-[!-+\-~]{0,9}$/), textOf(160));
  const created = { ...values, externalId };
  const request = fc.oneof(
    requestTo("list-leads", values),
    requestTo("list-conversations", values),
    requestTo("create-lead", created),
    // Few other requests create something.
    ...[1, 2].map(() => requestTo("create-lead", created, small)),
    ...[1, 2].map(() => requestTo("send-message", values)),
    requestTo("send-message", { ...values, id: values.messageId }, MessageUpdate, [["update", "message"]]),
    requestTo("send-message", { ...values, id: values.conversationId }, ConversationUpdate, [
      ["update", "conversation"],
    ]),
  );
  const property = fc.asyncProperty(request, async (sending) => {
    memory.restore(start);
    sent.clear();
    lines.length = 0;
    const { route, body = [], key, isBase64Encoded } = sending;
    const [own, other] = sending.isFirst ? records : [records[1], records[0]];
    const { account } = own;
    const bytes = render(sending);
    const parameters = parse(sending);
    const query = sending.query
      .map(([name, value]) => `${encodeURIComponent(name.toWellFormed())}=${sending.encode(toText(value))}`)
      .join("&");
    noteSent(...sending.query.flat(), ...body.flat(), key);
    const response = await call(route, {
      ...{ account, query, isBase64Encoded },
      ...(key !== null && { headers: { "idempotency-key": key } }),
      ...(bytes.length > 0 && { body: bytes.toString(isBase64Encoded ? "base64" : "utf8") }),
    });
    const { status = 0, problem } = response;
    statuses.set(status, (statuses.get(status) ?? 0) + 1);
    expectNothingSentIn(lines);

    const isWrite = schemas[route].body !== undefined;
    const schema = bodySchema(sending);
    const isWhole = isWrite
      ? bytes.length > 81_920 || /"__proto__" ?:/.test(String(bytes))
      : bytes.length > 0;
    const faults = [
      ...faultsOf(parameters, schemas[route].query, "query"),
      ...misplaced(sending.query),
      ...(isWrite && key !== null && !keyPattern.test(key.trim()) ? ["header idempotency-key"] : []),
      ...(isWhole ? ["body "] : isWrite ? faultsOf(body, schema, "body") : []),
    ];
    const input = Object.fromEntries(body);
    const isReport = isWrite && Object.fromEntries(parameters).update === "message";
    if (isReport && !isWhole && input.deliveryError !== undefined && input.delivery !== "failed")
      faults.push("body deliveryError");
    expect(new Set(problem.errors?.map((fault) => `${fault.in} ${fault.field}`))).toEqual(new Set(faults));
    const isCreated = schema === newLead || schema === NewMessage;
    const success = isCreated ? 201 : 200;
    const expected = isWrite && !isOwn(schema, input, own) ? 404 : success;
    expect(status).toBe(faults.length > 0 ? 400 : expected);
    const isWritten = isWrite && status === success;
    if (!isWritten) expect(items()).toEqual(before);
    if (status === 200 && !isWrite) {
      const { page = 1, limit = 20, ...filters } = Object.fromEntries(parameters);
      const row: object = route === "list-leads" ? own.lead : own.conversation;
      const isFound = Object.entries(filters).every(([name, text]) =>
        name in row
          ? [text].flat().some((one) => storedForm(String(one)) === storedForm(Reflect.get(row, name)))
          : name !== "awaitingReply" || own.conversation.awaitingReplySince !== undefined,
      );
      const data = isFound && page === 1 ? [row] : [];
      expect(response.body).toEqual({ data, pagination: { page, limit, total: isFound ? 1 : 0 } });
    }
    if (!isWritten) return;
    expect(items().map(fieldsOf)).toContainEqual(expect.objectContaining(response.body));
    const ofOther = (items: readonly Item[]) =>
      items.filter(({ pk }) => String(pk).includes(`#${other.account}`));
    expect(ofOther(items())).toEqual(ofOther(before));
    if (!isCreated) return;
    const { id, createdAt, updatedAt, conversationId, ...rest } = response.body as Lead & Message;
    const stored = (name: unknown) => (name === undefined ? name : storedForm(String(name)));
    const labels = { source: stored(input.source), channel: stored(input.channel) };
    const added = route === "create-lead" ? { tags: [], score: 0, status: "new" } : { direction: "outbound" };
    expect(rest).toEqual({ ...added, ...input, ...labels });
  });
  await fc.assert(property, { numRuns: Number(process.env.CASES ?? 300) });
  expect(error).not.toHaveBeenCalled();
  // The requests got every kind of response.
  expect([...statuses.keys()].sort()).toEqual([200, 201, 400, 404]);
});
