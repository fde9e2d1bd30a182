import { toConversation } from "../../../shared/domain/conversations.ts";
import { toLead } from "../../../shared/domain/leads.ts";
import type { Item } from "../../../shared/dynamodb/table-client.ts";
import {
  type Conversation,
  conversation as conversationSchema,
  type Message,
  message as messageSchema,
} from "../../../shared/schemas/conversation-schemas.ts";
import { type Lead, lead as leadSchema } from "../../../shared/schemas/lead-schemas.ts";
import { toRecord } from "../../../shared/schemas/record.ts";
import { isRecord } from "../../is-record.ts";

/**
 * A line of the file of an account: one of its items, without its keys, which name the account. Counts, pointers to active
 * conversations and keys of indexes follow from these.
 */
export type AccountLine =
  | { readonly type: "limit"; readonly requests: number }
  | { readonly type: "erasedLead"; readonly leadId: string; readonly id: string }
  | { readonly type: "leadImport"; readonly sha256: string; readonly startedAt: string }
  | ({ readonly type: "lead" } & Lead)
  | ({ readonly type: "conversation" } & Conversation)
  | ({ readonly type: "message" } & Message);

export type LineType = AccountLine["type"];

/** The fields that a line of each type must have. */
const required: Readonly<Record<LineType, readonly string[]>> = {
  limit: ["requests"],
  erasedLead: ["leadId", "id"],
  leadImport: ["sha256", "startedAt"],
  lead: leadSchema.required,
  conversation: conversationSchema.required,
  message: messageSchema.required,
};

export const lineTypes = Object.keys(required) as readonly LineType[];

/** How the item of each type becomes a line. Its fields are in the same order in every export. */
export const toLine: Readonly<Record<LineType, (item: Item) => AccountLine>> = {
  limit: ({ requests }) => ({ type: "limit", requests: Number(requests) }),
  erasedLead: ({ leadId, id }) => ({ type: "erasedLead", leadId: String(leadId), id: String(id) }),
  leadImport: ({ sk, startedAt }) => ({
    ...{ type: "leadImport", sha256: String(sk), startedAt: String(startedAt) },
  }),
  lead: (item) => ({ type: "lead", ...toLead(item) }),
  conversation: (item) => ({ type: "conversation", ...toConversation(item) }),
  message: (item) => ({ type: "message", ...toRecord(messageSchema, item) }),
};

/** The value as a line; undefined for another one. */
export function readLine(value: unknown): AccountLine | undefined {
  if (!isRecord(value)) return undefined;
  const names = required[value.type as LineType];
  return names?.every((name) => value[name] !== undefined) ? (value as unknown as AccountLine) : undefined;
}
