import { PutCommand } from "@aws-sdk/lib-dynamodb";
import { ulid } from "ulid";
import { conversationItem } from "../../../shared/domain/conversations.ts";
import { createdAt } from "../../../shared/ids.ts";
import { active } from "../../../shared/schemas/conversation-schemas.ts";
import { routeEvent } from "../../support/events.ts";
import { seeded } from "../../support/random.ts";
import type { Served } from "./function-pool.ts";
import type { Service } from "./service.ts";

/** The lead of all conversations. */
export const leadId = "lead_01JZ0000000000000000000000";

/**
 * Stores conversations of one lead with an account, each on a channel of its own, as if one had started every second until
 * now, at no cost.
 *
 * @returns their ids, newest first
 */
export function seedConversations({ memory, clock }: Service, account: string, count: number): string[] {
  const random = seeded(count);
  const ids = Array.from({ length: count }, (_, n) => `conv_${ulid(clock.now - (n + 1) * 1000, random)}`);
  for (const [n, id] of ids.entries()) {
    const conversation = { id, leadId, channel: `channel-${n}`, status: active };
    const Item = conversationItem(account, {
      ...{ ...conversation, lastMessageAt: createdAt(id), messageCount: 1 },
    });
    memory.execute(new PutCommand({ TableName: "overload", Item }));
  }
  return ids;
}

/** A page of conversations, as the API returns it. */
interface ConversationsPage {
  readonly data: readonly { readonly id: string }[];
  readonly pagination: { readonly total: number };
}

interface Listed {
  readonly status: number;
  /** Undefined for a refusal. */
  readonly page: ConversationsPage | undefined;
  /** What the list has cost; it goes on to grow if a list that was refused makes further calls. */
  readonly served: Served;
}

/** Requests an account's conversations. @param query as in the URL */
export async function listConversations({ pools }: Service, account: string, query: string): Promise<Listed> {
  const event = routeEvent("list-conversations", { account, query });
  const { result, served } = await pools["list-conversations"].invoke(event);
  const { statusCode, body } = result as { readonly statusCode: number; readonly body: string };
  return { status: statusCode, page: statusCode === 200 ? JSON.parse(body) : undefined, served };
}
