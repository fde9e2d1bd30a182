import { randomUUID } from "node:crypto";
import { Client } from "./client.ts";
import { eventually, expectMatch, expectResponse } from "./expectations.ts";

export const leads = "/api/v1/leads";
export const conversations = "/api/v1/conversations";

/** A row of a list. */
export interface Row {
  readonly id: string;
  readonly createdAt: string;
}

export interface Message extends Row {
  readonly conversationId: string;
}

export interface Page {
  readonly data: readonly Row[];
  readonly pagination: { readonly page: number; readonly limit: number; readonly total: number };
}

export type Query = Readonly<Record<string, string | number>>;

/** A source, a channel or a part of an address that nothing else has. */
export const unique = (name: string) => `contract-${name}-${randomUUID().slice(-12)}`;

export function pathOf(path: string, query: Query): string {
  const entries = Object.entries(query).map(([name, value]): [string, string] => [name, String(value)]);
  return `${path}?${new URLSearchParams(entries)}`;
}

/** Does something several times at once. */
export const atOnce = <T>(times: number, action: (n: number) => Promise<T>): Promise<T[]> =>
  Promise.all(Array.from({ length: times }, (_, n) => action(n)));

/** A client with steps that many checks take. All throw a Failure. */
export class Account extends Client {
  /** Sends a key of its own, so that a failure can be retried. */
  async createLead(fields: object = {}): Promise<Row> {
    const body = { name: "Contract check", ...fields };
    return expectResponse(await this.post(leads, body, { "idempotency-key": randomUUID() }), { status: 201 });
  }

  async sendMessage(leadId: string, channel: string, message = "Hello"): Promise<Message> {
    const [body, key] = [{ leadId, channel, message }, { "idempotency-key": randomUUID() }];
    return expectResponse(await this.post(conversations, body, key), { status: 201 });
  }

  async list(path: string, query: Query = {}): Promise<Page> {
    return expectResponse(await this.get(pathOf(path, query)), { status: 200 });
  }

  /** The total of a list. */
  async count(path: string, query: Query = {}): Promise<number> {
    return (await this.list(path, query)).pagination.total;
  }

  /** Expects a list to have these rows, the newest first. */
  async expectRows(path: string, query: Query, ids: readonly string[]): Promise<void> {
    const { data, pagination } = await this.list(path, { ...query, limit: 100 });
    const seen = { ids: data.map(({ id }) => id), total: pagination.total };
    expectMatch(`GET ${pathOf(path, query)}`, seen, { ids, total: ids.length });
  }

  /** Expects the same of a filter that reads an index, which shows writes later. */
  expectIndexed(path: string, query: Query, ids: readonly string[]): Promise<void> {
    return eventually(() => this.expectRows(path, query, ids));
  }

  async expectConversation(id: string, expected: object): Promise<void> {
    const { data } = await this.list(conversations, { id });
    expectMatch(`the conversation ${id}`, data, [{ id, ...expected }]);
  }

  /** Expects an action to change no total. */
  async expectNothingStored(action: () => Promise<unknown>): Promise<void> {
    const totals = async () => [await this.count(leads), await this.count(conversations)];
    const before = await totals();
    await action();
    expectMatch("the totals of leads and conversations", await totals(), before);
  }
}
