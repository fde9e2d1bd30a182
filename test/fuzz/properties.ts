import { expect } from "vitest";
import type { RouteName } from "../../shared/routes.ts";
import type { Conversation, Message, NewMessage } from "../../shared/schemas/conversation-schemas.ts";
import type { Lead, NewLead } from "../../shared/schemas/lead-schemas.ts";
import type { RawResponse } from "../support/socket.ts";
import type { Verdict } from "./generators/part.ts";
import { expectDocumented } from "./response-check.ts";
import { type Account, created, type World } from "./world.ts";

/** What an answer is to. */
export interface Sent {
  readonly who: 0 | 1;
  /** Undefined where the request leads to no route. */
  readonly route: RouteName | undefined;
  readonly verdict: Verdict;
  /** The body as text. */
  readonly body: string;
}

/** Everything that must hold of an answer; what it says was created is noted, and looked for. */
export async function expectGood(world: World, { who, route, verdict, body }: Sent, response: RawResponse) {
  expectDocumented(response, route);
  const [account, other] = who === 0 ? world.accounts : [world.accounts[1], world.accounts[0]];
  expectNothingOf(other, response);
  if (verdict === "valid") expect(response.status, response.text).toBeLessThan(300);
  if (verdict === "invalid") expect(response.status, response.text).toBeGreaterThanOrEqual(400);
  if (response.status === 200) expectOwn(account, JSON.parse(response.text).data);
  if (response.status !== 201) return;
  const record = JSON.parse(response.text);
  if (route === "create-lead") {
    created(route, account, JSON.parse(body) as NewLead, record);
    await expectListed(world, account, "list-leads", "", account.leads[0]);
  } else {
    created("send-message", account, JSON.parse(body) as NewMessage, record);
    const { leadId, conversationId } = record as Message;
    const conversation = account.conversations.find(({ id }) => id === conversationId);
    await expectListed(world, account, "list-conversations", `leadId=${leadId}`, conversation);
    await expectMessageStored(account, record as Message);
  }
}

/** No id and no text of an account is in the answer. */
function expectNothingOf({ mark, ids }: Account, { headers, text }: RawResponse): void {
  const all = `${text} ${JSON.stringify(headers)}`;
  expect(all).not.toContain(mark);
  for (const [id] of all.matchAll(/\b(?:lead|conv|msg)_[0-9A-Z]{26}/g)) expect(ids).not.toContain(id);
}

/** Every record is what the account was answered before. */
function expectOwn({ leads, conversations }: Account, records: (Lead | Conversation)[]): void {
  const known = new Map<string, Lead | Conversation>(
    [...leads, ...conversations].map((one) => [one.id, one]),
  );
  for (const record of records) expect(record).toEqual(known.get(record.id));
}

async function expectListed(
  { ask }: World,
  account: Account,
  route: RouteName,
  query: string,
  record?: object,
) {
  const { data } = (await ask(account, route, { query: `${query}&limit=100` })) as { data: object[] };
  expect(data).toContainEqual(record);
}

/** The routes list no messages: the table itself is asked. */
async function expectMessageStored({ name }: Account, message: Message): Promise<void> {
  const { GetCommand } = await import("@aws-sdk/lib-dynamodb");
  const { messageKey } = await import("../../shared/dynamodb/keys.ts");
  const { table, tableName } = await import("../../shared/dynamodb/table-client.ts");
  const Key = messageKey(name, message.conversationId, message.id);
  const { Item } = await table.send(new GetCommand({ TableName: tableName, Key, ConsistentRead: true }));
  expect(Item).toEqual({ ...Key, ...message });
}
