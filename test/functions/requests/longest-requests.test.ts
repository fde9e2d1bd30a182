import { readFile } from "node:fs/promises";
import { beforeEach, expect, test, vi } from "vitest";
import { leadItem } from "../../../shared/domain/leads.ts";
import { linkHeader } from "../../../shared/http/link-header.ts";
import { newId } from "../../../shared/ids.ts";
import { type RouteName, routes } from "../../../shared/routes.ts";
import { MemoryTable } from "../../support/memory-table/memory-table.ts";
import type { TestRequest } from "../../support/requests/events.ts";
import { longestBody } from "../../support/requests/longest-body.ts";
import { WatchedTable } from "../../support/tables/watched-table.ts";

// The handlers read this when they are loaded.
vi.stubEnv("RATE_LIMIT_REQUESTS", "999999999");
const { call } = await import("../../support/requests/call.ts");

/** The most bytes of headers, without those that the gateway adds: status line, request id, time, length, other origins. */
const mostHeaders = 4096 - 500;

/** The bytes of headers, with their separators. */
const headerBytes = (headers: object) =>
  Buffer.byteLength(
    Object.entries(headers)
      .map(([name, value]) => `${name}: ${value}\r\n`)
      .join(""),
  );

const updateRoute = { body: routes["create-lead"].otherBodies.schemas.update };

const createdAt = "2026-01-01T00:00:00.000Z";
const leadId = newId("lead");

const stored = new MemoryTable();
const lead = { ...JSON.parse(longestBody(updateRoute)), status: "new", score: 100, createdAt };
for (const id of [leadId, ...Array.from({ length: 100 }, () => newId("lead"))])
  stored.put(leadItem("acme", { ...lead, id }));

beforeEach(() => new WatchedTable().memory.restore(stored.snapshot()));

/** Long values of parameters, of which a link encodes most characters. */
const texts = {
  source: "\u{1F600}".repeat(64),
  email: `${"'".repeat(249)}@b.co`,
  id: Array(100).fill("x".repeat(64)),
  externalId: Array(50).fill("\u{1F600}".repeat(16)),
  createdAfter: `2026-01-31T09:30:00.${"9".repeat(9000)}+23:59`,
};

test.each<[RouteName, TestRequest, number]>([
  ["list-leads", { query: "limit=100" }, 200],
  ...Object.entries(texts).map(([name, text]): [RouteName, TestRequest, number] => [
    "list-leads",
    { query: `${name}=${[text].flat().map(encodeURIComponent)}` },
    200,
  ]),
  ["list-conversations", { query: `channel=${encodeURIComponent(texts.source)}` }, 200],
  ["create-lead", { body: longestBody(routes["create-lead"]) }, 201],
  ["create-lead", { query: "ifExists=update", body: longestBody(updateRoute, { id: leadId }) }, 200],
  ["send-message", { body: longestBody(routes["send-message"], { leadId }) }, 201],
])("the response to %s has at most 4 KB of headers and 5 MB: %#", async (name, request, expected) => {
  const { status, headers, body } = await call(name, request);
  expect(status).toBe(expected);
  expect(headerBytes(headers)).toBeLessThanOrEqual(mostHeaders);
  expect(Buffer.byteLength(JSON.stringify(body))).toBeLessThanOrEqual(5_000_000);
});

test.each([
  { body: longestBody(updateRoute), bytes: 79_345, values: 85 },
  { body: longestBody(routes["send-message"]), bytes: 75_253, values: 17 },
])("the longest body has $bytes bytes and $values values, of 80 KB and 1,000", async ({
  body,
  bytes,
  values,
}) => {
  expect([Buffer.byteLength(body), body.match(/[[{,]/g)?.length]).toEqual([bytes, values]);
  expect(await readFile("docs/errors.md", "utf8")).toContain(bytes.toLocaleString("en"));
});

const realIds = (count: number) => Array.from({ length: count }, () => newId("conv"));
const longIds = Array<string>(50).fill("x".repeat(64));

test.each<[what: string, ids: string[], page: number, rels: string]>([
  ["24 ids", realIds(24), 2, "first prev next last"],
  ["25 ids", realIds(25), 2, "first prev next"],
  ["49 ids", realIds(49), 2, "prev next"],
  ["50 ids", realIds(50), 2, "next"],
  ["100 ids", realIds(100), 2, "next"],
  ["100 ids, first page", realIds(100), 1, "next"],
  ["100 ids, past the last page", realIds(100), 101, "prev"],
  ["50 long ids", longIds, 2, "next"],
  ["50 long ids, last page", longIds, 100, "prev"],
  ["ids without room for any link", Array<string>(100).fill("'".repeat(64)), 2, ""],
])("links that are too long leave out last, then first and prev, and finally next: %s", (_, id, page, rels) => {
  const query: object = { id };
  const pagination = { page, limit: 1, total: 100 };
  const links = linkHeader("/api/v1/conversations", query, { data: [], pagination });
  expect(links.length).toBeLessThanOrEqual(3500);
  expect([...links.matchAll(/; rel="(\w+)"/g)].map(([, rel]) => rel).join(" ")).toBe(rels);
});
