import { readFile } from "node:fs/promises";
import { beforeEach, describe, expect, test, vi } from "vitest";
import { leadItem } from "../../../shared/domain/leads.ts";
import { linkHeader } from "../../../shared/http/link-header.ts";
import { newId } from "../../../shared/ids.ts";
import { type RouteName, routes } from "../../../shared/routes.ts";
import { MemoryTable } from "../../support/memory-table/memory-table.ts";
import type { TestRequest } from "../../support/requests/events.ts";
import {
  headerBytes,
  longestRequests,
  mostBody,
  mostHeaders,
} from "../../support/requests/longest-requests.ts";
import { WatchedTable } from "../../support/tables/watched-table.ts";

// The handlers read these when they are loaded.
vi.stubEnv("RATE_LIMIT_REQUESTS", "999999999");
vi.stubEnv("RATE_LIMIT_SECONDS", "86400");
const { call } = await import("../../support/requests/call.ts");

/** The bytes that the gateway adds at most: status line, request id, time, length, and the headers for other origins. */
const gatewayHeaders = 500;

const updateRoute = { ...routes["create-lead"], body: routes["create-lead"].otherBodies.schemas.update };

const longestBody = (name: "create-lead" | "send-message") =>
  String(longestRequests(name === "create-lead" ? updateRoute : routes[name]).at(-1)?.body);
const createdAt = "2026-01-01T00:00:00.000Z";
const leadId = newId("lead");

const stored = new MemoryTable();
const lead = { ...JSON.parse(longestBody("create-lead")), status: "new", score: 100, createdAt };
for (const id of [leadId, ...Array.from({ length: 100 }, () => newId("lead"))])
  stored.put(leadItem("acme", { ...lead, id }));

beforeEach(() => new WatchedTable().memory.restore(stored.snapshot()));

/** Sends a request, whose response must be within the budget. @returns its status */
async function send(name: RouteName, request: TestRequest) {
  const { status, headers, body } = await call(name, request);
  expect(headerBytes(headers)).toBeLessThanOrEqual(mostHeaders - gatewayHeaders);
  expect(Buffer.byteLength(JSON.stringify(body))).toBeLessThanOrEqual(mostBody);
  return status;
}

describe.each(Object.values(routes))("responses of $name have at most 4 KB of headers and 5 MB", (route) => {
  test.each(longestRequests(route, { leadId }))("for the longest $longest: %#", async (request) => {
    const isUnknown = route.name === "send-message" && request.longest === "leadId";
    expect(await send(route.name, request)).toBe(isUnknown ? 404 : route.method === "POST" ? 201 : 200);
  });
});

test.each(
  longestRequests(updateRoute),
)("responses to an update with the longest $longest have at most 4 KB of headers and 5 MB: %#", async (request) => {
  const body = { name: "x", externalId: "x", ...JSON.parse(String(request.body)) };
  const status = await send("create-lead", { query: "ifExists=update", body });
  expect(status).toBe("id" in body ? 404 : 201);
});

test.each([
  { name: "create-lead", bytes: 79_345, values: 85 },
  { name: "send-message", bytes: 75_253, values: 17 },
] as const)("the longest body of $name has $bytes bytes and $values values, of 80 KB and 1,000", async ({
  name,
  bytes,
  values,
}) => {
  const body = longestBody(name);
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
