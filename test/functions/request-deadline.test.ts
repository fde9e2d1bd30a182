import { PutCommand, TransactWriteCommand } from "@aws-sdk/lib-dynamodb";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { leadItem } from "../../shared/domain/leads.ts";
import { tableName } from "../../shared/dynamodb/table-client.ts";
import { call } from "../support/call.ts";
import { canceled } from "../support/cancellation.ts";
import { WatchedTable } from "../support/watched-table.ts";

const start = Date.UTC(2026, 0, 1);
const account = "acme";
const headers = { "idempotency-key": "key-1" };
const createdAt = "2026-01-01T00:00:00.000Z";

let table: WatchedTable;
/** When each transaction was sent, in milliseconds since the start. */
let attempts: number[];

beforeEach(() => {
  vi.useFakeTimers({ toFake: ["Date"], now: start });
  vi.spyOn(console, "error").mockImplementation(() => {});
  // The retries do not wait: each transaction takes a fifth of a second.
  vi.spyOn(Math, "random").mockReturnValue(0);
  table = new WatchedTable();
  const lead = { id: "lead_1", name: "Ada", score: 0, status: "new" as const, tags: [], createdAt };
  table.memory.execute(new PutCommand({ TableName: tableName, Item: leadItem(account, lead) }));
  attempts = [];
});
afterEach(() => {
  vi.restoreAllMocks();
  vi.useRealTimers();
});

/** Lets transactions meet conflicts up to a time, in milliseconds since the start. */
function conflictUntil(end: number): void {
  table.before = (command) => {
    if (!(command instanceof TransactWriteCommand)) return;
    const sent = Date.now() - start;
    attempts.push(sent);
    vi.setSystemTime(Date.now() + 200);
    if (sent < end) throw canceled("TransactionConflict", "None");
  };
}

const requests = [
  ["create-lead", { account, body: { name: "Ada" }, headers }],
  ["send-message", { account, body: { leadId: "lead_1", channel: "whatsapp", message: "Hello" } }],
] as const;

test.each(
  requests,
)("%s is retried for five seconds, although the invocation has ten", async (name, request) => {
  conflictUntil(Number.POSITIVE_INFINITY);
  const { status, headers, problem } = await call(name, request, 10_000);
  expect([status, headers["retry-after"], problem.code]).toEqual([503, "1", "busy"]);
  expect(attempts.at(-1)).toBe(4800);
  expect(attempts).toHaveLength(25);
});

test.each(requests)("%s succeeds when the conflicts end within the five seconds", async (name, request) => {
  conflictUntil(4800);
  expect((await call(name, request, 10_000)).status).toBe(201);
  expect(attempts).toHaveLength(25);
});

test.each(
  requests,
)("%s is retried until shortly before the invocation ends, if that is earlier", async (name, request) => {
  conflictUntil(Number.POSITIVE_INFINITY);
  expect((await call(name, request, 2500)).status).toBe(503);
  expect(attempts.at(-1)).toBe(1800);
});
