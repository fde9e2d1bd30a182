import { setTimeout } from "node:timers/promises";
import { expect, vi } from "vitest";
import type {
  Message,
  NewMessage,
  OpenedConversation,
} from "../../../shared/schemas/conversation-schemas.ts";
import type { NewLead } from "../../../shared/schemas/lead-schemas.ts";
import { call } from "./call.ts";

/** Creates a lead of the account and returns its record. */
export const aLead = vi.defineHelper(async (account: string, input: Partial<NewLead> = {}) => {
  const { status, body } = await call("create-lead", { account, body: { name: "Ada Lovelace", ...input } });
  expect(status, JSON.stringify(body)).toBe(201);
  return body;
});

/** Stores a message and returns its record. Retries a message that a busy machine writes too late. */
export const aMessage = vi.defineHelper(
  async (account: string, leadId: string, channel = "whatsapp", input: Partial<NewMessage> = {}) => {
    const message = { leadId, channel, message: "Hello", ...input };
    const send = () => call("send-message", { account, body: message });
    let { status, body } = await send();
    for (let tries = 1; status === 429 && tries < 5; tries++) ({ status, body } = await send());
    expect(status, JSON.stringify(body)).toBe(201);
    return body;
  },
);

/** Sends a request again, so many times at most, while others win or its outcome is unknown. */
export async function repeated<Response extends Pick<Awaited<ReturnType<typeof call>>, "status" | "headers">>(
  request: () => Promise<Response>,
  times = Number.POSITIVE_INFINITY,
): Promise<Response> {
  for (let left = times; ; left--) {
    const response = await request();
    if (response.status === 200 || response.status === 201) return response;
    expect([429, 503]).toContain(response.status);
    expect(response.headers["retry-after"]).toMatch(/^\d$/);
    if (left === 1) return response;
    await setTimeout(100 * Math.random());
  }
}

/** Reports the delivery state of a message. */
export const report = vi.defineHelper(
  (
    account: string,
    { id, conversationId }: Pick<Message, "id" | "conversationId">,
    state: object,
    headers = {},
  ) => {
    const body = { id, conversationId, ...state };
    return call("send-message", { account, headers, query: "update=message", body });
  },
);

/** Changes the status of a conversation; with `messageCount`, only if the conversation has this number of messages. */
export const setStatus = vi.defineHelper(
  (account: string, id: string, status: string, headers = {}, messageCount?: number) => {
    const body = { id, status, messageCount };
    return call("send-message", { account, headers, query: "update=conversation", body });
  },
);

/** Reads the messages of a conversation, newest first. */
export async function messagesOf(account: string, conversationId: string | undefined) {
  const query = `id=${conversationId}&include=messages`;
  const { data } = (await call("list-conversations", { account, query })).body;
  return (data as OpenedConversation[])[0]?.messages ?? [];
}
