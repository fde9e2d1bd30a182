import { randomUUID } from "node:crypto";
import { expect } from "vitest";
import {
  activeConversationKey,
  conversationKey,
  idempotencyKey,
  leadKey,
  messageKey,
} from "../../../../shared/dynamodb/keys.ts";
import type { Key } from "../../../../shared/dynamodb/table-client.ts";
import { call } from "../../../support/call.ts";

export const name = ({ pk, sk }: Key) => `${pk} ${sk}`;

/** A lead with a conversation on each of two channels, all created with idempotency keys. @returns the keys of its items */
export async function aKnownLead(account: string, email?: string) {
  const post = async (route: "create-lead" | "send-message", body: object) => {
    const key = randomUUID();
    const headers = { "idempotency-key": key };
    const response = await call(route, { account, body, headers });
    expect(response.status).toBe(201);
    return {
      body: response.body,
      record: name(idempotencyKey(account, route, key)),
      request: { account, body, headers },
    };
  };
  const lead = await post("create-lead", { name: "Ada", ...(email && { email }) });
  const { id } = lead.body;
  const sent = [];
  for (const channel of ["whatsapp", "email", "email"])
    sent.push(await post("send-message", { leadId: id, channel, message: "Hello" }));
  const items = [
    ...[lead.record, name(leadKey(account, id))],
    ...["whatsapp", "email"].map((channel) => name(activeConversationKey(account, id, channel))),
    ...sent.flatMap(({ record, body }) => {
      const { conversationId } = body as { conversationId: string };
      const { id: messageId } = body;
      return [
        ...[record, name(conversationKey(account, conversationId))],
        name(messageKey(account, conversationId, messageId)),
      ];
    }),
  ];
  return {
    id,
    requests: [lead.request, ...sent.map(({ request }) => request)],
    items: [...new Set(items)].sort(),
  };
}
