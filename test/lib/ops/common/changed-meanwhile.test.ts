import { DeleteCommand, PutCommand, UpdateCommand } from "@aws-sdk/lib-dynamodb";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { setConversationStatus } from "../../../../lib/ops/conversations/conversation-status.ts";
import { setLeadScore, setLeadStatus } from "../../../../lib/ops/leads/lead-changes.ts";
import { leadItem } from "../../../../shared/domain/leads.ts";
import { conversationKey, leadKey } from "../../../../shared/dynamodb/keys.ts";
import { type Key, tableName } from "../../../../shared/dynamodb/table-client.ts";
import { aLead, aMessage } from "../../../support/requests.ts";
import { WatchedTable } from "../../../support/watched-table.ts";

const account = "acme";
const soon = () => Date.now() + 60_000;

let table: WatchedTable;
beforeEach(() => {
  table = new WatchedTable();
});
afterEach(() => void vi.restoreAllMocks());

/** Runs something before the next update. */
function beforeUpdate(run: () => unknown): void {
  table.before = (command) => {
    if (!(command instanceof UpdateCommand)) return;
    table.before = () => {};
    run();
  };
}

const remove = (Key: Key) => table.memory.execute(new DeleteCommand({ TableName: tableName, Key }));

const storedItem = ({ pk, sk }: Key) =>
  [...table.memory.items()].find((item) => item.pk === pk && item.sk === sk);

test.each([
  ["status", (id: string) => setLeadStatus(account, id, "booked", soon())],
  ["score", (id: string) => setLeadScore(account, id, 7, soon())],
])("a lead that is deleted while its %s is set stays deleted", async (_, change) => {
  const { id } = await aLead(account);
  beforeUpdate(() => remove(leadKey(account, id)));
  expect(await change(id)).toBeUndefined();
  expect(storedItem(leadKey(account, id))).toBeUndefined();
});

test("a conversation that is deleted while its status is set stays deleted", async () => {
  const { conversationId } = await aMessage(account, (await aLead(account)).id);
  beforeUpdate(() => remove(conversationKey(account, conversationId)));
  expect(await setConversationStatus(account, conversationId, "closed", soon())).toBeUndefined();
  expect(storedItem(conversationKey(account, conversationId))).toBeUndefined();
});

test.each([
  undefined,
  "web",
])("a status is set with the source that the lead has by then: %s first", async (source) => {
  const lead = await aLead(account, source === undefined ? {} : { source });
  const moved = { ...lead, source: "fair" };
  const Item = leadItem(account, moved);
  beforeUpdate(() => table.memory.execute(new PutCommand({ TableName: tableName, Item })));
  await setLeadStatus(account, lead.id, "booked", soon());
  expect(storedItem(leadKey(account, lead.id))).toEqual(leadItem(account, { ...moved, status: "booked" }));
});
