import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { defaults } from "../../../lib/config/settings.ts";
import { maxInstagramBytes } from "../../../shared/channels/deliver-message.ts";
import { inboundLifetime } from "../../../shared/domain/conversations/messages.ts";
import { eventSchemas } from "../../../shared/domain/event-schemas.ts";
import { usualLifetime } from "../../../shared/domain/idempotent-replay.ts";
import { maxFaults, problems } from "../../../shared/errors.ts";
import { compressedFrom } from "../../../shared/http/compressed-responses.ts";
import { maxKeyLength } from "../../../shared/http/idempotency-key-parser.ts";
import { maxBodyBytes, maxBodyValues, maxDepth } from "../../../shared/http/json-scan.ts";
import { maxLinkBytes } from "../../../shared/http/link-header.ts";
import { lastPage } from "../../../shared/pages/page.ts";
import { lastMessage, newMessage, template } from "../../../shared/schemas/conversation-schemas.ts";
import * as fields from "../../../shared/schemas/field-schemas.ts";
import { leadsQuery } from "../../../shared/schemas/lead-schemas.ts";
import { defaultLimit, maxLimit } from "../../../shared/schemas/page-schemas.ts";

const document = JSON.parse(readFileSync("docs/openapi.json", "utf8"));
const guides: string = document.info.description;

/** The descriptions in a part of the document by the names of their fields, and the guides by their titles. */
function textsIn(part: object, field = ""): (readonly [name: string, text: string])[] {
  return Object.entries(part).flatMap(([key, value]) => {
    if (key === "description" && typeof value === "string") {
      const guides = value.split(/^# (.+)$/m);
      return guides.map((text, i) => [i === 0 ? field : (guides[i - 1] ?? ""), text] as const);
    }
    const name = value?.name ?? (/^(?:items|schema)$/.test(key) ? field : key);
    return value && typeof value === "object" ? textsIn(value, name) : [];
  });
}

const texts = textsIn(document);

/** Statuses, samples and names of documents are no bounds. */
const noBounds =
  /```[\s\S]*?```|`[^`]*`|\]\([^)]*\)|(?<![\d,])(?:20[01]|40[01349]|41[35]|42[29]|50[03])\b(?! characters)|RFC \d+|OpenAPI \S+|\b[245]xx\b/g;

/** The numbers in the texts of each field or guide, once each, with the word that follows. */
function numbersByName() {
  const found: Record<string, string[]> = {};
  for (const [name, text] of texts) {
    const numbers = text.replaceAll(noBounds, "").match(/\d[\d,]*(?<!,)\w*(?: \w+)?/g) ?? [];
    if (numbers.length > 0) found[name] = [...new Set([...(found[name] ?? []), ...numbers])];
  }
  return found;
}

test("the numbers in all texts are those of the code", () => {
  const count = (value: number) => value.toLocaleString("en");
  const ids = leadsQuery.properties.id.maxItems;
  const rows = count(lastPage({ sort: "updatedAt" }, 1));
  const [hours, days] = [`${usualLifetime / 3600} hours`, `${inboundLifetime / 86_400} days`];
  const errorText = `${fields.deliveryError.maxLength} characters`;
  // The literal numbers are limits of AWS and WhatsApp, or describe what clients do.
  expect(numbersByName()).toEqual({
    page: ["1"],
    ...{ id: [`${ids}`], externalId: [`${ids}`], address: [`${ids}`] },
    sort: [`${rows} leads`, `${rows} conversations`],
    post: ["0"],
    messageLimit: [`${defaultLimit} by`],
    addresses: [`${fields.maxAddresses}`],
    metadata: [`${fields.metadata.maxProperties} names`, `${count(fields.maxBytes.metadata)} bytes`],
    lastInboundAt: ["24 hours"],
    text: [`${lastMessage.properties.text.maxLength} characters`],
    template: ["24 hours", `${count(fields.maxBytes.template)} bytes`],
    deliveryError: [errorText],
    errors: [`${maxFaults}`],
    "Idempotency-Key": [hours, days, "1 to", `${maxKeyLength} visible`],
    ContentEncoding: [`${count(compressedFrom)} bytes`],
    Link: [`${rows} rows`, `${count(maxLinkBytes)} bytes`],
    TooLarge: ["6 MB"],
    "Lists and filters": [
      ...[`${count(50 * maxLimit)} leads`, "50 pages", `${maxLimit}`, "1", "1 to", `${defaultLimit}`],
      ...[`${rows} rows`, `${ids} values`, `${ids + 1}st returns`],
    ],
    "Read everything": [`${maxLimit} rows`, "1970 if"],
    "Which key to choose": [
      ...["1 to", `${fields.externalId.maxLength} visible`, `${fields.maxAddresses} addresses`],
    ],
    Messages: [
      ...["24 hours", `${count(newMessage.properties.message.maxLength)} characters`],
      ...[`${template.properties.parameters.maxItems}`, `${count(maxInstagramBytes)} bytes`],
      ...[`${defaultLimit} by`, `${maxLimit} with`],
    ],
    "An inbox": [`${maxLimit} conversations`, "24 hours"],
    "Deliver and report": [errorText],
    "Receive answers": [days],
    "What the API does not do": ["35 days", "14 days", `${ids} ids`, "15 messages"],
    Retries: ["15 seconds", "99 of", "100 are", hours, days],
    "Limits and 429": [
      ...[`${count(defaults.rateLimitRequests)} requests`, "1 second", "2 before", "4 before", "30 seconds"],
      "60 messages",
      ...[
        `${count(defaults.throttleRate)} requests`,
        `${maxBodyBytes / 1024} KB`,
        `${count(maxBodyValues)} values`,
      ],
      ...[`${maxDepth} levels`, "6 MB", `${count(newMessage.properties.message.maxLength)} characters`],
    ],
    Events: ["24 hours", "15 seconds"],
  });
});

/** What all texts of a field or guide state. Tests of the routes show that it is true. */
test.each([
  [/(?<!Retry)After$/, /this time or later/],
  [/Before$/, /before (?:this time|the one with this id)/],
  [
    /^externalId$/,
    /^Only the leads with|^Your own id of the lead(?:, if it has one\.$|.*it never changes\.$)/,
  ],
  [/^Which key to choose$/, /Once a lead has one, it never changes/],
  [/^sort$/, /`-createdAt`, the newest first, is the default.*`createdAt`, the oldest first/],
  [/^email$/, /any letter case|Email address/],
  [/^delivery$/, /`sent`, `failed`, `delivered` or `read`/],
  [/^direction$/, /^`outbound`, (?:the default, )?or `inbound`/],
])("the texts of %s say %s", (name, said) => {
  const found = texts.filter(([field]) => name.test(field)).map(([, text]) => text);
  expect(found).not.toEqual([]);
  expect(found.filter((text) => !said.test(text))).toEqual([]);
});

const guide = (title: string) =>
  guides.split(/^# /m).find((section) => section.startsWith(`${title}\n`)) ?? "";

test("each sample of the guides begins and ends on a line of its own", () => {
  expect(guides.match(/^```\w*$/gm)?.length).toBe(guides.match(/```/g)?.length);
});

test("the guides list each problem with its status", () => {
  const documented = [...guides.matchAll(/(\d{3}) \[?`(\w+)`/g)].map(
    ([, status, code]) => `${status} ${code}`,
  );
  const returned = Object.entries(problems).map(([code, { status }]) => `${status} ${code}`);
  expect(new Set(documented)).toEqual(new Set(returned));
});

test("the guide on events names each event", () => {
  for (const type of Object.keys(eventSchemas)) expect(guide("Events")).toContain(`\`${type}\``);
});

test("each guide links only to existing guides, and names the operations of its samples", () => {
  const anchors = (guides.match(/^# .+$/gm) ?? []).map((title) =>
    title.slice(2).toLowerCase().replaceAll(" ", "-"),
  );
  for (const section of guides.split(/^# /m)) {
    const links = [...section.matchAll(/\]\(#([^)]+)\)/g)].map(([, anchor]) => anchor);
    expect(anchors).toEqual(expect.arrayContaining(links));
    expect([section, links.length]).not.toEqual([section, 0]);
    for (const [operation] of section.matchAll(/^(?:GET|POST) \/api\/v1\/\w+/gm))
      expect(section).toMatch(new RegExp(`\`${operation}[\`?]`));
  }
  const instead = guide("What the API does not do").match(/^\| (?!-|Not possible).+$/gm) ?? [];
  expect(instead.filter((row) => !/\]\(#|`GET \//.test(row))).toEqual([]);
  expect(instead.length).toBeGreaterThan(10);
});

test("no line is wrapped, because some pages show each line break", () => {
  const paragraphs = guides.replaceAll(/^```[\s\S]*?^```$/gm, "").split("\n\n");
  const wrapped = paragraphs.filter((paragraph) => /\n(?![-|])/.test(paragraph.trim()));
  expect(wrapped).toEqual([]);
});

test("each guide begins with plain text, because the search shows it unformatted", () => {
  const beginnings = guides.split(/^# .+$/m).map((section) => section.trim().slice(0, 70));
  expect(beginnings.filter((text) => /[`*[|#]|\n/.test(text))).toEqual([]);
});
