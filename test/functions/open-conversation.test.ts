import { randomUUID } from "node:crypto";
import { beforeEach, expect, test, vi } from "vitest";
import { conversationItem } from "../../shared/domain/conversations.ts";
import { messageKey } from "../../shared/dynamodb/keys.ts";
import { createdAt, newId } from "../../shared/ids.ts";
import type { OpenedConversation } from "../../shared/schemas/conversation-schemas.ts";
import { call } from "../support/call.ts";
import { useMemoryTable } from "../support/memory-leads.ts";
import type { MemoryTable } from "../support/memory-table.ts";

const start = Date.now() - 1_000_000;
const conversationId = newId("conv", start);
const pair = { leadId: newId("lead", start), channel: "sms" };
let account: string;
let memory: MemoryTable;

beforeEach(() => {
  account = randomUUID();
  memory = useMemoryTable();
  vi.spyOn(console, "error").mockImplementation(() => {});
  const state = { status: "active", lastMessageAt: createdAt(conversationId), messageCount: 1 };
  memory.put(conversationItem(account, { id: conversationId, ...pair, ...state }));
});

/** Stores a message of the n-th second, or what has other values. */
function put(n: number, { id = newId("msg", start + n * 1000), ...values }: Record<string, unknown> = {}) {
  const message = { id, conversationId, ...pair, message: `${n}`, createdAt: createdAt(conversationId) };
  memory.put({ ...messageKey(account, conversationId, String(id)), ...message, ...values });
  return String(id);
}

async function open(query = "", of = account) {
  const asked = `id=${conversationId}&include=messages${query}`;
  const { status, body } = await call("list-conversations", { account: of, query: asked });
  expect(status).toBe(200);
  return (body.data as OpenedConversation[]).map(({ messages = [] }) => messages.map(({ id }) => id))[0];
}

test("a conversation has its newest messages, older ones before one of them, and nothing that is no message", async () => {
  const ids: string[] = [];
  for (let n = 0; n < 60; n++) {
    ids.unshift(put(n));
    put(n, { message: undefined });
    put(n, { conversationId: newId("conv") });
    put(n, { message: n });
  }
  put(0, { id: "msg_zz" });
  put(0, { id: newId("msg", Date.now() + 1e9) });
  expect(await open()).toEqual(ids.slice(0, 20));
  expect(await open("&messageLimit=1")).toEqual(ids.slice(0, 1));
  expect(await open("&messageLimit=100")).toEqual(ids);
  expect(await open(`&messagesBefore=${ids[19]}&messageLimit=30`)).toEqual(ids.slice(20, 50));
  expect(await open(`&messagesBefore=msg_${"0".repeat(26)}`)).toEqual([]);
  expect(await open("", "another")).toBeUndefined();
  expect(await open("&status=ended")).toBeUndefined();
  memory.delete({ pk: `CONVERSATION#${account}`, sk: conversationId });
  expect(await open()).toBeUndefined();
});
