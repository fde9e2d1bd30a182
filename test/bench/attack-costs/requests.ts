import { ulid } from "ulid";
import { newApiKey } from "../../../shared/domain/api-key-format.ts";
import { findApiKey } from "../../../shared/domain/api-keys.ts";
import { idempotentRequest } from "../../../shared/domain/idempotency.ts";
import { createLead, leadItem, listLeads } from "../../../shared/domain/leads.ts";
import { sendMessage } from "../../../shared/domain/send-message.ts";
import type { Lead, NewLead } from "../../../shared/schemas/lead-schemas.ts";
import { itemSize } from "../../support/memory-table/item-size.ts";
import { type Metered, metered, useMeteredTable } from "../../support/metered-table.ts";

/** The units and the response of a request, without its rate limit. */
export interface RequestCost {
  readonly what: string;
  readonly write: number;
  readonly read: number;
  /** Of the request's body and of the response. */
  readonly sent: number;
  readonly bytes: number;
  /** How many events it causes. */
  readonly events: number;
  /** What it stores, in bytes: in the table and in the indexes. */
  readonly stored?: number;
}

const account = "attacker";

/** How many leads the longest page has. */
const limit = 100;

/** A lead with a source and an email address is in the table and in four indexes. */
const leadCopies = 5;

/** The character that takes the most bytes, four, and the most in a key, where each of them is percent-encoded. */
const longest = "\u{1F4A3}";

/** Each takes all that its schema allows. */
const largestLead = (n: number): NewLead => ({
  name: longest.repeat(200),
  email: `${String(n).padStart(60, "x")}@${"x".repeat(60)}.${"x".repeat(60)}.example.com`,
  source: longest.repeat(64),
  tags: Array.from({ length: 50 }, () => longest.repeat(64)),
});

const largestMessage = (leadId: string) => ({
  leadId,
  channel: longest.repeat(64),
  message: longest.repeat(4096),
});

/** Measures each kind of request; each is the most expensive one of its kind. */
export async function measureRequests(): Promise<readonly RequestCost[]> {
  useMeteredTable();
  const create = (n: number) => {
    const body = largestLead(n);
    const idempotency = idempotentRequest(account, "create-lead", `key-${n}`, body);
    return metered(() => createLead(account, body, idempotency) as Promise<Lead>);
  };
  const first = await create(0);
  for (let n = 1; n < limit; n++) await create(n);
  const { source } = largestLead(0);
  const page = { page: 1, limit };
  const body = largestMessage(first.result.id);
  const idempotency = idempotentRequest(account, "send-message", "key", body);
  return [
    cost("A request with a key that does not exist", await metered(() => findApiKey(newApiKey(ulid()))), 0),
    {
      ...cost("The largest lead, with `Idempotency-Key`", first, 1),
      stored: leadCopies * itemSize(leadItem(account, first.result)),
    },
    cost(
      "The largest message, which starts a conversation, with `Idempotency-Key`",
      await metered(() => sendMessage(account, body, idempotency)),
      2,
    ),
    cost("A page of 100 of the largest leads", await metered(() => listLeads(account, {}, page)), 0),
    cost("The same of one source", await metered(() => listLeads(account, { source }, page)), 0),
  ];
}

const cost = (
  what: string,
  { result, cost: { write, read } }: Metered<unknown>,
  events: number,
  sent = 0,
): RequestCost => ({
  ...{ what, write, read, events, sent },
  bytes: Buffer.byteLength(JSON.stringify(result ?? null)),
});
