import { randomUUID } from "node:crypto";
import { DeleteCommand, PutCommand } from "@aws-sdk/lib-dynamodb";
import type { DynamoDBRecord } from "aws-lambda";
import { vi } from "vitest";
import { conversationItem, listConversations } from "../../shared/domain/conversations.ts";
import { conversationKey } from "../../shared/dynamodb/keys.ts";
import { tableName } from "../../shared/dynamodb/table-client.ts";
import { createdAt, newId } from "../../shared/ids.ts";
import { countedChanges } from "../../shared/pages/maintain/changes.ts";
import { maintainLists, type Unsettled } from "../../shared/pages/maintain/maintain-lists.ts";
import type { PageRequest } from "../../shared/pages/page.ts";
import { forgetTails } from "../../shared/pages/read/tail.ts";
import { limits as deployedLimits, type Limits } from "../../shared/pages/tree/tree-limits.ts";
import type { Conversation, ConversationsQuery } from "../../shared/schemas/conversation-schemas.ts";
import { streamRecord } from "./stream-record.ts";
import { WatchedTable } from "./watched-table.ts";

type Fields = Pick<Conversation, "channel" | "status">;

/** The lead of all conversations. */
export const leadId = "lead_01KDVDKFD0CDDZ6WV8KSBHWN8P";

/** An account's conversations in a table in memory and in a model of it, with a clock that only the test moves. */
export class ConversationHistory {
  readonly table = new WatchedTable();
  readonly account = randomUUID();
  /** The conversations in the table, by id. */
  conversations = new Map<string, Conversation>();
  now: number;
  #unsettled: Unsettled = new Map();
  #records: DynamoDBRecord[] = [];

  constructor(start = Date.UTC(2026, 0, 1)) {
    this.now = start;
    vi.useFakeTimers({ toFake: ["Date"], now: start });
  }

  /** Moves the clock. */
  advance(by: number): void {
    this.now += Math.ceil(by);
    vi.setSystemTime(this.now);
  }

  /** @returns a function that brings the present back, in an environment that remembers nothing */
  save(): () => void {
    const memory = this.table.memory.snapshot();
    const { now } = this;
    const conversations = [...this.conversations];
    const unsettled = [...this.#unsettled];
    const records = [...this.#records];
    return () => {
      this.table.memory.restore(memory);
      this.conversations = new Map(conversations);
      this.#unsettled = new Map(unsettled);
      this.#records = [...records];
      this.now = now;
      vi.setSystemTime(now);
      forgetTails();
    };
  }

  /** Starts a conversation, and moves the clock by some milliseconds. @returns its id */
  add(fields: Fields, then = 100): string {
    const id = newId("conv", this.now);
    const conversation = { id, leadId, ...fields, lastMessageAt: createdAt(id), messageCount: 1 };
    this.#write(id, conversation);
    this.advance(then);
    return id;
  }

  /** Starts conversations of the lead. @param fields those of the n-th one */
  addMany(count: number, fields: (n: number) => Fields): string[] {
    return Array.from({ length: count }, (_, n) => this.add(fields(n)));
  }

  change(id: string, fields: Partial<Fields>): void {
    const conversation = this.conversations.get(id);
    if (conversation) this.#write(id, { ...conversation, ...fields });
  }

  delete(id: string): void {
    this.#write(id, undefined);
  }

  /** The stream delivers all changes. */
  async deliver(limits: Limits = deployedLimits): Promise<void> {
    const changes = countedChanges(this.#records);
    this.#records = [];
    const wait = async (milliseconds: number) => this.advance(milliseconds);
    const means = { deadline: this.now + 60_000, limits, wait, unsettled: this.#unsettled };
    const unfinished = await maintainLists(changes, means);
    if (unfinished.length > 0) throw new Error("The maintainer has not finished.", { cause: unfinished });
  }

  list(filter: ConversationsQuery, request: PageRequest = { page: 1, limit: 20 }) {
    return listConversations(this.account, filter, request);
  }

  /** The page that a list must return. */
  expected(
    { leadId, channel, status }: ConversationsQuery,
    { page, limit }: PageRequest = { page: 1, limit: 20 },
  ) {
    const matching = [...this.conversations.values()]
      .filter((conversation) => leadId === undefined || conversation.leadId === leadId)
      .filter((conversation) => channel === undefined || conversation.channel === channel)
      .filter((conversation) => status === undefined || conversation.status === status)
      .sort((a, b) => (a.id < b.id ? 1 : -1));
    return {
      data: matching.slice((page - 1) * limit, page * limit),
      pagination: { page, limit, total: matching.length },
    };
  }

  #write(id: string, after: Conversation | undefined): void {
    const before = this.conversations.get(id);
    const Key = conversationKey(this.account, id);
    const Item = after && conversationItem(this.account, after);
    this.table.memory.execute(
      Item
        ? new PutCommand({ TableName: tableName, Item })
        : new DeleteCommand({ TableName: tableName, Key }),
    );
    if (after) this.conversations.set(id, after);
    else this.conversations.delete(id);
    this.#records.push(streamRecord(before && conversationItem(this.account, before), Item));
  }
}
