import { randomUUID } from "node:crypto";
import { setTimeout } from "node:timers/promises";
import { TransactWriteCommand } from "@aws-sdk/lib-dynamodb";
import { beforeEach, expect, test, vi } from "vitest";
import { conversationItem } from "../../../shared/domain/conversations/conversations.ts";
import { call } from "../../support/requests/call.ts";
import { canceled } from "../../support/tables/cancellation.ts";
import { idOf, startedConversation, storedLead } from "../../support/tables/stored.ts";
import { useTable } from "../../support/tables/watched-table.ts";

const start = Date.UTC(2026, 0, 1);
const headers = { "idempotency-key": "key-1" };

const table = useTable();
/** Another one in each test, because an environment remembers hot accounts. */
let account: string;
/** When each transaction was sent, in milliseconds since the start. */
let attempts: number[];

beforeEach(() => {
  vi.useFakeTimers({ toFake: ["Date"], now: start });
  vi.spyOn(console, "error").mockImplementation(() => {});
  // The retries do not wait: each transaction takes a twentieth of a second.
  vi.spyOn(Math, "random").mockReturnValue(0);
  account = randomUUID();
  table.memory.put(storedLead("lead_1", account));
  table.memory.put(conversationItem(account, startedConversation(idOf("conv", 1))));
  attempts = [];
});

/** Makes transactions conflict until a time, in milliseconds since the start. */
function conflictUntil(end: number): void {
  table.before = (command) => {
    if (!(command instanceof TransactWriteCommand)) return;
    const sent = Date.now() - start;
    attempts.push(sent);
    vi.setSystemTime(Date.now() + 50);
    if (sent < end) throw canceled("TransactionConflict", "None");
  };
}

const requests = [
  ["create-lead", { body: { name: "Ada" }, headers }],
  ["send-message", { body: { leadId: "lead_1", channel: "whatsapp", message: "Hello" } }],
  [
    "send-message",
    { query: "update=conversation", body: { id: idOf("conv", 1), status: "closed" }, headers },
  ],
] as const;

test.each(
  requests,
)("%s %j is retried for 0.2 seconds after its first attempt, and then refused", async (name, request) => {
  conflictUntil(Number.POSITIVE_INFINITY);
  const { status, headers, problem } = await call(name, { account, ...request });
  expect([status, headers["retry-after"], problem.code]).toEqual([429, "1", "too_many_at_once"]);
  expect(attempts).toEqual([0, 50, 100, 150, 200]);
});

test.each([
  ["TransactionConflict", {}, 503, "busy", 1],
  ["ConditionalCheckFailed", {}, 503, "busy", 1],
  ["TransactionConflict", { headers }, 201, undefined, 2],
])("after a lost response and a %s, a message with %j returns %i: only a message with a key is sent again", async (...args) => {
  const [reason, key, status, code, sent] = args;
  table.before = (command) => {
    if (!(command instanceof TransactWriteCommand)) return;
    attempts.push(Date.now() - start);
    // The SDK has sent it twice: the first attempt may still take effect.
    if (attempts.length === 1) throw Object.assign(canceled(reason), { $metadata: { attempts: 2 } });
  };
  const body = { leadId: "lead_1", channel: "whatsapp", message: "Hello" };
  const { status: returned, problem } = await call("send-message", { account, body, ...key });
  expect([returned, problem?.code, attempts.length]).toEqual([status, code, sent]);
  const cause = { name: "TimeoutError", reasons: [reason] };
  if (status === 503)
    expect(console.error).toHaveBeenCalledWith(
      expect.objectContaining({ cause: expect.objectContaining(cause) }),
    );
});

test("a request that takes too long returns busy before its invocation ends", async () => {
  table.before = () => new Promise(() => {});
  const late = setTimeout(10_000, undefined, { ref: false });
  const result = await Promise.race([call("create-lead", { account, body: { name: "Ada" } }, 600), late]);
  expect(result).toMatchObject({ status: 503, problem: { code: "busy" } });
});

const send = (leadId: string, channel = "whatsapp") =>
  call("send-message", { account, body: { leadId, channel, message: "Hello" } });

test("after a refusal, messages to the conversation fail at once, in any letter case of the channel; others are sent", async () => {
  // The backoff is nearly the longest that its jitter allows.
  vi.spyOn(Math, "random").mockReturnValue(0.999);
  conflictUntil(Number.POSITIVE_INFINITY);
  expect((await send("lead_1")).problem.detail).toBe(
    "Too many messages are sent to this conversation at once. Try again in 4 s.",
  );
  conflictUntil(0);
  const { result, calls } = await table.watch(() => send("lead_1", "WhatsApp"));
  expect([result.status, result.problem.code, calls]).toEqual([429, "too_many_at_once", []]);
  expect((await send("lead_1", "sms")).status).toBe(201);
  vi.setSystemTime(Date.now() + 100);
  expect((await send("lead_1")).status).toBe(201);
});
