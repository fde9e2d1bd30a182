import { randomUUID } from "node:crypto";
import { expect } from "vitest";
import type { RouteName } from "../../shared/routes.ts";
import type { Conversation, Message, NewMessage } from "../../shared/schemas/conversation-schemas.ts";
import type { Lead, NewLead } from "../../shared/schemas/lead-schemas.ts";
import { lowerCase } from "../support/lower-case.ts";
import type { Body } from "./generators/body.ts";

/** The records that an account has received, and must find again. */
export interface Account {
  /** The account's name, which may be logged. */
  readonly name: string;
  /** Part of every text of this account's first records, and of no other text. */
  readonly mark: string;
  readonly apiKey: string;
  /** Newest first. */
  readonly leads: Lead[];
  /** Newest first. */
  readonly conversations: Conversation[];
  readonly ids: Set<string>;
}

/** Sends a valid request and returns the parsed body of its response. */
export type Send = (
  account: Account,
  route: RouteName,
  request: { query?: string; body?: object },
) => Promise<unknown>;

/** Two accounts, each with its own leads and conversations. */
export interface World {
  readonly accounts: readonly [Account, Account];
  readonly send: Send;
}

/** @param issueKey issues a key for a new account */
export async function newWorld(issueKey: (account: string) => Promise<string>, send: Send): Promise<World> {
  const account = async (): Promise<Account> => {
    const [name, mark] = [randomUUID(), randomUUID()];
    return { name, mark, apiKey: await issueKey(name), leads: [], conversations: [], ids: new Set() };
  };
  const world: World = { accounts: [await account(), await account()], send };
  for (const account of world.accounts) for (const n of [0, 1, 2]) await seed(world, account, n);
  return world;
}

async function seed({ send }: World, account: Account, n: number) {
  const lead = { name: `${account.mark} ${n}`, source: "instagram", tags: [account.mark] };
  const { id: leadId } = noteCreated(
    "create-lead",
    account,
    lead,
    await send(account, "create-lead", { body: lead }),
  );
  const message = { leadId: String(leadId), channel: "instagram", message: account.mark };
  noteCreated("send-message", account, message, await send(account, "send-message", { body: message }));
}

/** Checks the record of a 201 against the request, and notes it. */
export function noteCreated(
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
  const source = input.source && lowerCase(input.source);
  expect(lead).toEqual({ tags: [], ...input, source, score: 0, status: "new" });
  const record = { id, createdAt, ...lead };
  leads.unshift(record);
  return record;
}

function sentMessage({ conversations, ids }: Account, input: NewMessage, response: Message): Message {
  const { id, conversationId, createdAt, ...sent } = response;
  const { leadId, message } = input;
  const channel = lowerCase(input.channel);
  expect(sent).toEqual({ leadId, message, channel });
  const joined = conversations.find((one) => one.leadId === leadId && one.channel === channel);
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

/** Replaces placeholders such as `~own0~` by this world's ids. */
export function resolve({ accounts }: World, who: 0 | 1, text: string): string {
  const toLeadId = ({ leads }: Account, n: string) => leads[Number(n) % leads.length]?.id ?? "";
  const other = accounts[who === 0 ? 1 : 0];
  return text
    .replace(/~own(\d)~/g, (_, n) => toLeadId(accounts[who], n))
    .replace(/~other(\d)~/g, (_, n) => toLeadId(other, n))
    .replaceAll("~unique~", () => randomUUID());
}

/** The bytes of a body, with its placeholders replaced. */
export function toBytes(world: World, who: 0 | 1, body: Body | undefined): Buffer {
  const { text, encoding } = body ?? { text: "", encoding: "utf8" };
  return Buffer.from(resolve(world, who, text), encoding);
}

/** Checks that the accounts list exactly the records that they have received. */
export async function expectAllStored({
  accounts,
  send,
}: { readonly accounts: readonly Account[] } & Pick<World, "send">) {
  for (const account of accounts) {
    expect(await listed(send, account, "list-leads")).toEqual(account.leads);
    expect(await listed(send, account, "list-conversations")).toEqual(account.conversations);
  }
}

async function listed(send: Send, account: Account, route: RouteName): Promise<unknown[]> {
  const rows: unknown[] = [];
  for (let page = 1; ; page++) {
    const { data, pagination } = (await send(account, route, { query: `page=${page}&limit=100` })) as {
      data: unknown[];
      pagination: { total: number };
    };
    rows.push(...data);
    if (data.length === 0 || rows.length >= pagination.total) return rows;
  }
}
