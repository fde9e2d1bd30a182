import { expect } from "vitest";
import type { RouteName } from "../../shared/routes.ts";
import type { Conversation, Message, NewMessage } from "../../shared/schemas/conversation-schemas.ts";
import type { Lead, NewLead } from "../../shared/schemas/lead-schemas.ts";
import type { RawResponse } from "../support/socket.ts";
import type { Verdict } from "./generators/part.ts";
import { expectDocumented } from "./response-check.ts";
import { type Account, noteCreated, type World } from "./world.ts";

/** The request of a response. */
export interface Sent {
  readonly who: 0 | 1;
  /** Undefined when the request matches no route. */
  readonly route: RouteName | undefined;
  readonly verdict: Verdict;
  /** The body as text. */
  readonly body: string;
}

/** Checks everything that must hold for a response. Records what it created and checks that it is listed. */
export async function expectGood(world: World, { who, route, verdict, body }: Sent, response: RawResponse) {
  expectDocumented(response, route);
  const [account, other] = who === 0 ? world.accounts : [world.accounts[1], world.accounts[0]];
  expectNothingFrom(other, response);
  if (verdict === "valid") expect(response.status, response.text).toBeLessThan(300);
  if (verdict === "invalid") expect(response.status, response.text).toBeGreaterThanOrEqual(400);
  if (response.status === 200) expectOwn(account, JSON.parse(response.text).data);
  if (response.status !== 201) return;
  const record = JSON.parse(response.text);
  if (route === "create-lead") {
    noteCreated(route, account, JSON.parse(body) as NewLead, record);
    await expectListed(world, account, "list-leads", "", account.leads[0]);
  } else {
    noteCreated("send-message", account, JSON.parse(body) as NewMessage, record);
    const { leadId, conversationId } = record as Message;
    const conversation = account.conversations.find(({ id }) => id === conversationId);
    await expectListed(world, account, "list-conversations", `leadId=${leadId}`, conversation);
    await expectMessageStored(account, record as Message);
  }
}

/** Checks that the response holds no id and no text of an account. */
function expectNothingFrom({ mark, ids }: Account, { headers, text }: RawResponse): void {
  const all = `${text} ${JSON.stringify(headers)}`;
  expect(all).not.toContain(mark);
  for (const [id] of all.matchAll(/\b(?:lead|conv|msg)_[0-9A-Z]{26}/g)) expect(ids).not.toContain(id);
}

/** Checks that every record equals the one that the account received before. */
function expectOwn({ leads, conversations }: Account, records: (Lead | Conversation)[]): void {
  const received = new Map<string, Lead | Conversation>(
    [...leads, ...conversations].map((record) => [record.id, record]),
  );
  for (const record of records) expect(record).toEqual(received.get(record.id));
}

async function expectListed(
  { send }: World,
  account: Account,
  route: RouteName,
  query: string,
  record?: object,
) {
  const { data } = (await send(account, route, { query: `${query}&limit=100` })) as { data: object[] };
  expect(data).toContainEqual(record);
}

/** Reads a message from the table, because no route lists messages. */
async function expectMessageStored({ name }: Account, message: Message): Promise<void> {
  const { GetCommand } = await import("@aws-sdk/lib-dynamodb");
  const { messageKey } = await import("../../shared/dynamodb/keys.ts");
  const { table, tableName } = await import("../../shared/dynamodb/table-client.ts");
  const Key = messageKey(name, message.conversationId, message.id);
  const { Item } = await table.send(new GetCommand({ TableName: tableName, Key, ConsistentRead: true }));
  expect(Item).toEqual({ ...Key, ...message });
}
