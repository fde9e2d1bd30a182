import { marshall, NumberValueImpl } from "@aws-sdk/util-dynamodb";
import { beforeEach, expect, test, vi } from "vitest";
import { handler as maintainCounts } from "../../functions/maintain-counts.ts";
import { leadItem } from "../../shared/domain/leads.ts";
import { activeConversationKey, idempotencyKey, leadKey, messageKey } from "../../shared/dynamodb/keys.ts";
import { readItem } from "../../shared/dynamodb/table-client.ts";
import { createdAt, newId } from "../../shared/ids.ts";
import { countedLists } from "../../shared/pages/tree/counted-list.ts";
import { emptyRoot, rootItem } from "../../shared/pages/tree/root.ts";
import { readRoot, treeKey } from "../../shared/pages/tree/tree-store.ts";
import { call } from "../support/call.ts";
import { lambdaContext } from "../support/events.ts";
import { aLead, aMessage } from "../support/requests.ts";
import { allows } from "../support/role-check.ts";
import { streamRecord } from "../support/stream-record.ts";
import { put } from "../support/table-items.ts";

/** A number that JavaScript cannot represent. */
const unsafe = NumberValueImpl.from("1.00000000000000000001");

/** Stores an item that the role of a function may write, as code that was taken over could. */
async function plant(label: string, item: object): Promise<void> {
  const Item = marshall(item, { removeUndefinedValues: true });
  expect(allows(label, "PutItem", { Item })).toBe(true);
  await put(item);
}

let logged = vi.spyOn(console, "error");
beforeEach(() => {
  logged = vi.spyOn(console, "error").mockImplementation(() => {});
});

const listed = async (account: string) =>
  (await call("list-leads", { account })).body.data.map((lead) => lead.id);

test("requests are answered beside items with a number that JavaScript cannot represent", async () => {
  const account = "acme";
  const { id } = await aLead(account);
  const other = newId("lead");
  const fields = { id: other, name: "x", score: 0, tags: [], createdAt: createdAt(other) };
  await plant("create-lead", { ...leadItem(account, { ...fields, status: "new" }), status: unsafe });
  await plant("send-message", { ...activeConversationKey(account, id, "sms"), conversationId: unsafe });
  await plant("send-message", { ...messageKey(account, newId("conv"), newId("msg")), message: unsafe });
  await plant("create-lead", {
    ...idempotencyKey(account, "create-lead", "k"),
    ...{ ids: unsafe, expiresAt: 9e9 },
  });
  expect(await listed(account)).toEqual([id]);
  await aMessage(account, id, "sms");
  const headers = { "idempotency-key": "k" };
  const { problem } = await call("create-lead", { account, headers, body: { name: "Ada" } });
  expect(problem.code).toBe("idempotency_key_reused");
});

test.each([
  { version: unsafe },
  { entries: "x" },
])("a root with %o is logged by lists, which stay exact, and replaced by the maintainer", async (values) => {
  const account = Object.keys(values).join();
  const owner = { account, list: countedLists.lead };
  const { id } = await aLead(account);
  const generation = Date.now();
  const root = rootItem({ ...emptyRoot(generation), version: generation });
  await plant("maintain-counts", { ...treeKey(owner, "root"), ...root, ...values });
  expect(await listed(account)).toEqual([id]);
  expect(logged.mock.calls).toMatchObject([[{ event: "counts damaged", account }]]);
  const row = await readItem(leadKey(account, id));
  const changes = { Records: [streamRecord({ ...row, status: "booked" }, row)] };
  expect(await maintainCounts(changes, lambdaContext())).toEqual({ batchItemFailures: [] });
  expect((await readRoot(owner))?.generation).toBeGreaterThanOrEqual(generation);
  expect(await listed(account)).toEqual([id]);
});

test.each(["maintain-counts", "audit-counts"])("no root with an expiry can be written by %s", (label) => {
  const Item = marshall({ ...treeKey({ account: "acme", list: countedLists.lead }, "root"), expiresAt: 1 });
  expect(allows(label, "PutItem", { Item })).toBe(false);
});
