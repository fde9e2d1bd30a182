import { randomUUID } from "node:crypto";
import { DescribeTableCommand } from "@aws-sdk/client-dynamodb";
import { beforeEach, expect, test, vi } from "vitest";
import { engineStreamsClient } from "../../../lib/local/engine/dynamodb-client.ts";
import { toLambdaRecord } from "../../../lib/stream-record.ts";
import { toEvents } from "../../../shared/domain/events.ts";
import { table, tableName } from "../../../shared/dynamodb/table-client.ts";
import type { Conversation, OpenedConversation } from "../../../shared/schemas/conversation-schemas.ts";
import { call } from "../../support/requests/call.ts";
import { aLead, repeated, report, setStatus } from "../../support/requests/requests.ts";
import { engineEndpoint } from "../../support/setup/engine-endpoint.ts";
import { interceptAttempts, lateAttempts, tableFaults } from "../../support/tables/table-faults.ts";

beforeEach(() => void vi.spyOn(console, "error").mockImplementation(() => {}));

/** Stores a message, whose text is its direction. */
async function send(account: string, leadId: string, direction: string) {
  const headers = { "idempotency-key": randomUUID() };
  const body = { leadId, channel: "sms", direction, message: direction };
  return (await repeated(() => call("send-message", { account, headers, body }))).body;
}

const idsOf = (rows: readonly { readonly id: string }[]) => rows.map(({ id }) => id).sort();

/**
 * Reads the account's conversations with their messages, the newest first. Expects the fields of each to follow from its
 * messages, and no conversation to wait once it has ended.
 */
async function agreeing(account: string): Promise<OpenedConversation[]> {
  const list = async (query: string) =>
    (await call("list-conversations", { account, query })).body.data as OpenedConversation[];
  const rows = await list("limit=100");
  const found = (await Promise.all(rows.map(({ id }) => list(`id=${id}&include=messages`)))).flat();
  for (const { messages = [], ...row } of found) {
    const says: Partial<Conversation> = { messageCount: messages.length, lastInboundAt: undefined };
    for (const { direction, delivery, message, createdAt } of messages.toReversed()) {
      Object.assign(says, { lastMessageAt: createdAt, lastMessage: { direction, text: message } });
      if (direction === "inbound") says.lastInboundAt = createdAt;
      if (direction === "inbound") says.awaitingReplySince ??= createdAt;
      else if (delivery !== "failed") says.awaitingReplySince = undefined;
    }
    if (row.status !== "active") says.awaitingReplySince = undefined;
    expect(row).toEqual({ ...row, ...says });
  }
  return found;
}

/** The events of an account except `lead.created`, in the order of the table's stream. */
async function eventsOf(account: string) {
  const { Table } = await table.send(new DescribeTableCommand({ TableName: tableName }));
  const client = engineStreamsClient(engineEndpoint);
  const StreamArn = Table?.LatestStreamArn;
  const { StreamDescription } = await client.describeStream({ StreamArn });
  const records = [];
  for (const { ShardId } of StreamDescription?.Shards ?? []) {
    const oldest = { StreamArn, ShardId, ShardIteratorType: "TRIM_HORIZON" } as const;
    let { ShardIterator } = await client.getShardIterator(oldest);
    while (ShardIterator) {
      const { Records = [], NextShardIterator } = await client.getRecords({ ShardIterator });
      records.push(...Records.map(toLambdaRecord));
      ShardIterator = Records.length > 0 ? NextShardIterator : undefined;
    }
  }
  return toEvents(records).filter((event) => event.account === account && event.type !== "lead.created");
}

test("a conversation agrees with its messages: the first four at once in both directions, and two more while it is closed", async () => {
  const account = "at-once";
  const leads = await Promise.all(Array.from({ length: 32 }, () => aLead(account)));
  const first = await Promise.all(
    // Every combination of four directions.
    leads.flatMap(({ id }, n) =>
      [1, 2, 4, 8].map((bit) => send(account, id, n & bit ? "outbound" : "inbound")),
    ),
  );
  const started = await agreeing(account);
  expect(started.map(({ leadId }) => leadId).sort()).toEqual(idsOf(leads));
  const close = (id: string) => repeated(() => setStatus(account, id, "closed"));
  const next = await Promise.all(
    started.flatMap(({ id, leadId }) => [
      send(account, leadId, "inbound"),
      close(id).then(() => []),
      send(account, leadId, "inbound"),
    ]),
  );
  const found = await agreeing(account);
  const sent = [...first, ...next.flat()];
  expect(idsOf(found.flatMap(({ messages = [] }) => messages))).toEqual(idsOf(sent));
  const closed = found.filter(({ status }) => status === "closed");
  expect(idsOf(closed)).toEqual(idsOf(started));
  expect(new Set(found.map(({ leadId, status }) => `${leadId} ${status}`)).size).toBe(found.length);
  const told = Map.groupBy(await eventsOf(account), ({ type }) => type);
  const of = (direction: string) => idsOf(sent.filter((message) => message.direction === direction));
  expect(idsOf(told.get("message.received") ?? [])).toEqual(of("inbound"));
  expect(idsOf(told.get("message.sent") ?? [])).toEqual(of("outbound"));
  expect(idsOf(told.get("conversation.started") ?? [])).toEqual(idsOf(found));
  const changes = (told.get("conversation.updated") ?? []).map(
    (event) => `${Reflect.get(event, "conversationId")} ${Reflect.get(event, "changed")}`,
  );
  const changed = ({ lastMessage }: Conversation) =>
    lastMessage.direction === "inbound" ? "status,awaitingReplySince" : "status";
  expect(changes.sort()).toEqual(closed.map((row) => `${row.id} ${changed(row)}`).sort());
});

test.each(Object.keys(tableFaults))("a fault of each first write causes no duplicate: %s", async (fault) => {
  const account = `fault ${fault}`;
  const { id: leadId } = await aLead(account);
  /** Repeats a request until it succeeds. Its first write has the fault. */
  async function disturbed<T>(request: () => Promise<T>): Promise<T> {
    let isFirst = true;
    interceptAttempts(async (attempt) => {
      const isWrite = attempt.input.TransactItems ?? attempt.input.UpdateExpression;
      if (!isFirst || !isWrite) return attempt.forward();
      isFirst = false;
      return tableFaults[fault]?.(attempt) ?? attempt.forward();
    });
    const result = await request();
    expect(isFirst).toBe(false);
    await lateAttempts();
    return result;
  }
  for (const direction of ["inbound", "inbound"]) await disturbed(() => send(account, leadId, direction));
  const last = await disturbed(() => send(account, leadId, "outbound"));
  const changes = [
    ...["failed", "delivered"].map(
      (delivery) => (headers: object) => report(account, last, { delivery }, headers),
    ),
    ...["closed", "active", "closed"].map(
      (status) => (headers: object) => setStatus(account, last.conversationId, status, headers),
    ),
  ];
  for (const [n, change] of changes.entries()) {
    const headers = n % 2 ? { "idempotency-key": `${n}` } : {};
    await disturbed(() => repeated(() => change(headers)));
    await agreeing(account);
  }
  vi.restoreAllMocks();
  const messages = [{ id: last.id, delivery: "delivered" }, {}, {}];
  expect(await agreeing(account)).toMatchObject([{ status: "closed", messages }]);
  expect((await eventsOf(account)).map(({ type }) => type).sort()).toEqual([
    "conversation.started",
    // The lead waits again while its reply counts as failed.
    ...Array(5).fill("conversation.updated"),
    ...["message.received", "message.received", "message.sent", "message.updated", "message.updated"],
  ]);
});
