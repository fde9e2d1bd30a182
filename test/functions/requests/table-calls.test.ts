import { expect, test } from "vitest";
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
  const ids = [1, 2, 1].map((n) => idOf(prefix, n));
  const Keys = ids.slice(0, 2).map((sk) => ({ pk, sk }));
  const RequestItems = { unit: { Keys, ConsistentRead: true } };
  // Blanks around a comma are no part of an id.
  const query = `${filter}&id=${ids.join("%20,+")}&id=${prefix}`;
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

test("a hundred ids take one call, and one read unit each", async () => {
  const ids = putLeads(table.memory, "acme", 100).map(({ id }) => id);
  const list = () => call("list-leads", { query: `limit=100&id=${ids}` });
  const { result, calls, units } = await table.watch(list);
  expect(result.body.data.map(({ id }) => id)).toEqual(ids.reverse());
  expect(calls.map(({ name }) => name)).toEqual(["BatchGetCommand"]);
  expect(units).toBe(100);
});
