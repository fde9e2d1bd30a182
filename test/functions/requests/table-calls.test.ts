import { expect, test } from "vitest";
import { newId } from "../../../shared/ids.ts";
import { call } from "../../support/requests/call.ts";
import { idOf, putLeads } from "../../support/tables/stored.ts";
import { useTable } from "../../support/tables/watched-table.ts";

const table = useTable();

/** The inputs of the calls that a request makes, each with the name of its command. */
async function callsOf(...request: Parameters<typeof call>) {
  const { calls } = await table.watch(() => call(...request));
  return calls.map(({ name, input }) => ({ name, ...input }));
}

const rejected = "\ud800";

test.each([
  ["", "lead", { leadId: rejected, channel: "whatsapp", message: "Hello" }],
  ["update=message", "message", { id: rejected, conversationId: idOf("conv", 1), delivery: "read" }],
  ["update=message", "message", { id: idOf("msg", 1), conversationId: rejected, delivery: "read" }],
  ["update=conversation", "conversation", { id: rejected, status: "active" }],
])("an id that DynamoDB would reject returns 404 without a read: %s of a %s", async (query, noun, body) => {
  const { result, calls } = await table.watch(() => call("send-message", { query, body }));
  expect([result.problem.code, calls]).toEqual([`${noun}_not_found`, []]);
});

test.each([
  ["list-leads", "status=new", "LEAD#acme", "lead"],
  ["list-conversations", "leadId=lead_1", "CONVERSATION#acme", "conv"],
] as const)("ids of %s with %s are read in one call: each once, and none that cannot exist", async (name, filter, pk, prefix) => {
  const ids = Array.from({ length: 98 }, () => newId(prefix));
  const Keys = ids.map((sk) => ({ pk, sk }));
  const RequestItems = { unit: { Keys, ConsistentRead: true } };
  // Blanks around a comma are no part of an id.
  const query = `${filter}&id=${[...ids, ids[0]].join("%20,+")}&id=${prefix}`;
  expect(await callsOf(name, { query })).toMatchObject([{ name: "BatchGetCommand", RequestItems }]);
});

test("create-lead replaces no lead", async () => {
  const condition = { name: "PutCommand", ConditionExpression: "attribute_not_exists(pk)" };
  expect(await callsOf("create-lead", { body: { name: "Ada" } })).toMatchObject([condition]);
});

test.each([
  [19, [{ Limit: 20 }]],
  // DynamoDB does not say whether more rows follow.
  [20, [{ Limit: 20 }, { ProjectionExpression: "pk, sk" }]],
])("a first page that holds all %i leads takes these queries: %j", async (count, expected) => {
  putLeads(table.memory, "acme", count);
  const [root, ...queries] = await callsOf("list-leads");
  expect(root).toMatchObject({ name: "GetCommand" });
  const query = { name: "QueryCommand", ConsistentRead: true };
  expect(queries).toMatchObject(expected.map((one) => ({ ...query, ...one })));
  expect(queries[0]).not.toHaveProperty("ProjectionExpression");
});
