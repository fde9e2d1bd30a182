import { randomUUID } from "node:crypto";
import { expect } from "vitest";
import type { RouteName } from "../../shared/routes.ts";
import type { Conversation, Message, NewMessage } from "../../shared/schemas/conversation-schemas.ts";
import type { Lead, NewLead } from "../../shared/schemas/lead-schemas.ts";

/** What one account has been answered, and so must find again. */
export interface Account {
  /** The account's name, which logs tell. */
  readonly name: string;
  /** In every text of the seeds, and nowhere else. */
  readonly mark: string;
  readonly apiKey: string;
  /** Newest first. */
  readonly leads: Lead[];
  /** Newest first. */
  readonly conversations: Conversation[];
  readonly ids: Set<string>;
}

/** Sends a valid request and gives its answer's body, parsed. */
export type Ask = (
  account: Account,
  route: RouteName,
  request: { query?: string; body?: object },
) => Promise<unknown>;

/** Two accounts, each with leads and conversations of its own. */
export interface World {
  readonly accounts: readonly [Account, Account];
  readonly ask: Ask;
}

/** @param issueKey gives the key of a new account, by its name */
export async function newWorld(issueKey: (account: string) => Promise<string>, ask: Ask): Promise<World> {
  const account = async (): Promise<Account> => {
    const [name, mark] = [randomUUID(), randomUUID()];
    return { name, mark, apiKey: await issueKey(name), leads: [], conversations: [], ids: new Set() };
  };
  const world: World = { accounts: [await account(), await account()], ask };
  for (const account of world.accounts) for (const n of [0, 1, 2]) await seed(world, account, n);
  return world;
}

async function seed({ ask }: World, account: Account, n: number) {
  const lead = { name: `${account.mark} ${n}`, source: "instagram", tags: [account.mark] };
  const { id: leadId } = created(
    "create-lead",
    account,
    lead,
    await ask(account, "create-lead", { body: lead }),
  );
  const message = { leadId: String(leadId), channel: "instagram", message: account.mark };
  created("send-message", account, message, await ask(account, "send-message", { body: message }));
}

/** Checks what was answered 201 against what was sent, and notes it. */
export function created(
  route: "create-lead" | "send-message",
  account: Account,
  input: NewLead | NewMessage,
  response: unknown,
): Lead | Message {
  const record =
    route === "create-lead"
      ? createdLead(account, input as NewLead, response as Lead)
      : sentMessage(account, input as NewMessage, response as Message);
  expect(account.ids).not.toContain(record.id);
  account.ids.add(record.id);
  return record;
}

function createdLead({ leads }: Account, input: NewLead, { id, createdAt, ...lead }: Lead): Lead {
  expect(lead).toEqual({ tags: [], ...input, score: 0, status: "new" });
  const record = { id, createdAt, ...lead };
  leads.unshift(record);
  return record;
}

function sentMessage({ conversations, ids }: Account, input: NewMessage, response: Message): Message {
  const { id, conversationId, createdAt, ...sent } = response;
  expect(sent).toEqual(input);
  const { leadId, channel } = input;
  const joined = conversations.find((known) => known.leadId === leadId && known.channel === channel);
  if (joined) {
    expect(conversationId).toBe(joined.id);
    Object.assign(joined, { lastMessageAt: createdAt, messageCount: joined.messageCount + 1 });
  } else {
    expect(ids).not.toContain(conversationId);
    ids.add(conversationId);
    const started = { leadId, channel, status: "active", lastMessageAt: createdAt, messageCount: 1 };
    conversations.unshift({ id: conversationId, ...started });
  }
  return response;
}

/** Puts this world's ids in place of the words that stand for them. */
export function resolve({ accounts }: World, who: 0 | 1, text: string): string {
  const idOf = ({ leads }: Account, n: string) => leads[Number(n) % leads.length]?.id ?? "";
  const other = accounts[who === 0 ? 1 : 0];
  return text
    .replace(/~own(\d)~/g, (_, n) => idOf(accounts[who], n))
    .replace(/~other(\d)~/g, (_, n) => idOf(other, n))
    .replaceAll("~unique~", () => randomUUID());
}

/** Lists all that the accounts have, and finds what they were answered and nothing else. */
export async function expectAllStored({ accounts, ask }: World) {
  for (const account of accounts) {
    expect(await listed(ask, account, "list-leads")).toEqual(account.leads);
    expect(await listed(ask, account, "list-conversations")).toEqual(account.conversations);
  }
}

async function listed(ask: Ask, account: Account, route: RouteName): Promise<unknown[]> {
  const rows: unknown[] = [];
  for (let page = 1; ; page++) {
    const { data, pagination } = (await ask(account, route, { query: `page=${page}&limit=100` })) as {
      data: unknown[];
      pagination: { total: number };
    };
    rows.push(...data);
    if (data.length === 0 || rows.length >= pagination.total) return rows;
  }
}
