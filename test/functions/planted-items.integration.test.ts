import { marshall, NumberValueImpl } from "@aws-sdk/util-dynamodb";
import { expect, test, vi } from "vitest";
import { leadItem } from "../../shared/domain/leads.ts";
import { activeConversationKey, idempotencyKey, messageKey } from "../../shared/dynamodb/keys.ts";
import { createdAt, newId } from "../../shared/ids.ts";
import { call } from "../support/call.ts";
import { aLead, aMessage } from "../support/requests.ts";
import { allows } from "../support/role-check.ts";
import { put } from "../support/table-items.ts";

/** A number that JavaScript cannot represent. */
const unsafe = NumberValueImpl.from("1.00000000000000000001");

/** Stores an item that the role of a function may write, as code that was taken over could. */
async function plant(label: string, item: object): Promise<void> {
  const Item = marshall(item, { removeUndefinedValues: true });
  expect(allows(label, "PutItem", { Item })).toBe(true);
  await put(item);
}

test("requests are answered beside items with a number that JavaScript cannot represent", async () => {
  vi.spyOn(console, "error").mockImplementation(() => {});
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
  const { body } = await call("list-leads", { account });
  expect(body.data.map((lead) => lead.id)).toEqual([id]);
  await aMessage(account, id, "sms");
  const headers = { "idempotency-key": "k" };
  const { problem } = await call("create-lead", { account, headers, body: { name: "Ada" } });
  expect(problem.code).toBe("idempotency_key_reused");
});
