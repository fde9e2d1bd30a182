import { readFileSync } from "node:fs";
import { Ajv2020 } from "ajv/dist/2020.js";
import { fullFormats } from "ajv-formats/dist/formats.js";
import { expect, test } from "vitest";
import { problems } from "../../../shared/errors.ts";

// Generated clients and connectors rely on these values within one version of the API.
const document = JSON.parse(readFileSync("docs/openapi.json", "utf8"));
const ajv = new Ajv2020({ strict: false, formats: fullFormats });
ajv.addSchema(document, "document");

interface Property {
  readonly $ref?: string;
  readonly examples?: readonly unknown[];
}

/** A valid value of a named schema, by the examples of its properties. */
function buildExample(name: string): Record<string, unknown> {
  const { properties } = document.components.schemas[name] as { properties: Record<string, Property> };
  return Object.fromEntries(
    Object.entries(properties).map(([field, { $ref, examples }]) => [
      field,
      $ref === undefined ? examples?.[0] : buildExample($ref.split("/").at(-1) ?? ""),
    ]),
  );
}

const many = (length: number, value: unknown) => Array(length).fill(value);
const fault = buildExample("Fault");
const lead = buildExample("Lead");
const conversation = buildExample("Conversation");
const tenNames = Object.fromEntries([..."abcdefghij"].map((name) => [name, "a\nb"]));
const ulid = "01M7XX82T31MKK0XPP5SRK7Z5P";
const time = { valid: ["2026-11-21T01:59:00.163Z"], invalid: ["yesterday", "2026-11-21", 5] };
/** What a release may add to, or a maximum that it may raise: clients must not refuse it. */
const tolerant = { valid: ["newer"], invalid: [1, null] };
const errors = { valid: [[fault], many(101, fault)], invalid: [[{}], {}] };

/** An event's constants and ids. */
const eventValues = (name: string, type: string, prefix: string) => ({
  [`${name}.type`]: { valid: [type], invalid: ["other", ""] },
  [`${name}.version`]: { valid: [1], invalid: [0, 2, "1"] },
  [`${name}.id`]: { valid: [`${prefix}_${ulid}`], invalid: [`other_${ulid}`, ulid, `${prefix}_1`] },
  [`${name}.createdAt`]: time,
  [`${name}Event.detail-type`]: { valid: [type], invalid: ["other", ""] },
  [`${name}Event.source`]: { valid: ["leads-and-conversations"], invalid: ["other", ""] },
  [`${name}Event.detail`]: { valid: [buildExample(name)], invalid: [{}, null] },
});

/** Values that each field can have, at the edges of its rules, and values that it never has. */
const fields: Readonly<Record<string, { readonly valid: unknown[]; readonly invalid: unknown[] }>> = {
  "Lead.score": { valid: [0, 100], invalid: [-1, 1.5, "5"] },
  "Lead.email": { valid: ["name/surname@", "a@b.c", "x".repeat(255)], invalid: [1, null] },
  "Lead.name": { valid: ["", "x".repeat(201)], invalid: [1, null] },
  "Lead.source": { valid: ["", "x".repeat(65)], invalid: [1, null] },
  "Lead.status": { valid: ["new", "qualified", "booked"], invalid: ["lost", ""] },
  "Lead.tags": { valid: [[], [""], many(51, "a")], invalid: ["a", [1]] },
  "Lead.createdAt": time,
  "Lead.externalId": { valid: ["+49-30", "a b,", "a".repeat(129)], invalid: [5, null] },
  "Lead.metadata": {
    valid: [{}, { a: "" }, { ...tenNames, k: "" }],
    invalid: [{ a: 1 }, { a: null }, []],
  },
  "LeadsPage.data": { valid: [[], many(101, lead)], invalid: [[{}], {}] },
  "Conversation.messageCount": { valid: [1], invalid: [0, 1.5] },
  "Conversation.lastMessageAt": time,
  "ConversationsPage.data": {
    valid: [[], many(101, conversation)],
    invalid: [[{}], {}],
  },
  "Message.createdAt": time,
  "Pagination.page": { valid: [1], invalid: [0, 1.5, "1"] },
  "Pagination.limit": { valid: [1, 101], invalid: [0, "1"] },
  "Pagination.total": { valid: [0], invalid: [-1, 1.5] },
  "InvalidInputProblem.errors": errors,
  "UnsupportedMediaTypeProblem.errors": errors,
  "Fault.in": tolerant,
  "Fault.code": tolerant,
  ...eventValues("LeadCreated", "lead.created", "lead"),
  ...eventValues("ConversationStarted", "conversation.started", "conv"),
  ...eventValues("MessageSent", "message.sent", "msg"),
  ...eventValues("LeadErased", "lead.erased", "erasure"),
};

function expectValues(place: string, { valid, invalid }: (typeof fields)[string]) {
  const [schema = "", field = ""] = place.split(/\.(.*)/s);
  const validate = ajv.getSchema(`document#/components/schemas/${schema}`);
  if (!validate) throw new Error(`The document has no schema ${schema}.`);
  const accepts = (value: unknown) => validate({ ...buildExample(schema), [field]: value });
  expect([valid.filter((value) => !accepts(value)), invalid.filter(accepts)]).toEqual([[], []]);
}

test.each(Object.entries(fields))("%s has the values that are promised, and no others", expectValues);

test.each(Object.entries(problems))("a problem with the code %s has its status, and no other", (code, {
  status,
}) => {
  const ownName = code.replaceAll(/(?:^|_)(.)/g, (_, letter: string) => letter.toUpperCase());
  const name = `${status === 429 ? "TooManyRequests" : ownName}Problem`;
  expectValues(`${name}.code`, tolerant);
  expectValues(`${name}.status`, { valid: [status], invalid: [status + 1, 200, `${status}`] });
});
