import { TransactWriteCommand } from "@aws-sdk/lib-dynamodb";
import { beforeEach, expect, test } from "vitest";
import { storeDelivery } from "../../../shared/channels/store-delivery.ts";
import type { Message } from "../../../shared/schemas/conversation-schemas.ts";
import { givenUp } from "../../../shared/schemas/field-schemas.ts";
import { call } from "../../support/requests/call.ts";
import { aLead, aMessage, report, setStatus } from "../../support/requests/requests.ts";
import { useTable } from "../../support/tables/watched-table.ts";

const account = "acme";
const table = useTable();
let leadId: string;
let stored: Message[];
beforeEach(async () => {
  stored = [];
  ({ id: leadId } = await aLead(account));
});

const waiting = async (query = "") =>
  (await call("list-conversations", { account, query: `awaitingReply=true&${query}` })).body;

/** Makes a step: `in`, `out`, a status of the conversation, or a report of the n-th message, counted from 0. */
async function step(text: string): Promise<unknown> {
  const [, n, state] = /^(\d)(.*)$/.exec(text) ?? [];
  const message = stored[Number(n)];
  if (message && state === "given-up") {
    const { id, conversationId } = message;
    return storeDelivery(account, { id, conversationId, delivery: "failed", deliveryError: `${givenUp}503` });
  }
  if (message) return report(account, message, { delivery: state }, { "idempotency-key": text });
  if (text === "in" || text === "out")
    return stored.push(
      await aMessage(account, leadId, "whatsapp", { direction: text === "in" ? "inbound" : "outbound" }),
    );
  return setStatus(account, stored[0]?.conversationId ?? "", text);
}

test.each<[steps: string, since?: number]>([
  ["in out"],
  ["in out 1failed", 0],
  ["in in out 2failed", 0],
  ["in out 1sent 1failed", 0],
  ["in out 1failed 1sent", 0],
  ["in out 1failed 1delivered"],
  ["in out 1given-up", 0],
  ["in out 1given-up 1sent"],
  ["in out 1given-up 1sent 1failed", 0],
  ["in out 1failed out"],
  ["in out out 1failed"],
  ["in out out 2failed"],
  ["in out out 1failed 2failed", 0],
  ["in out out 2failed 1failed", 0],
  ["in out out 1failed 2failed 1read"],
  ["in out in", 2],
  ["in out in 1failed", 0],
  ["in out 1failed in", 0],
  ["in out 1failed in 1delivered", 2],
  ["in out in out 1failed"],
  ["in out in out 3failed", 2],
  ["out 0failed"],
  ["in out closed 1failed"],
  ["in out closed 1failed active"],
  ["in out 1failed closed active"],
])("after %s, a lead waits since its first message without a reply", async (steps, since) => {
  for (const text of steps.split(" ")) await step(text);
  const { data, pagination } = await waiting();
  const awaitingReplySince = since === undefined ? undefined : stored[since]?.createdAt;
  const rows = awaitingReplySince ? [expect.objectContaining({ leadId, awaitingReplySince })] : [];
  expect([data, pagination.total]).toEqual([rows, rows.length]);
});

test("what waits is filtered as conversations are, and by since when it has waited", async () => {
  await step("in");
  const { conversationId: id, createdAt } = stored[0] as Message;
  const later = new Date(Date.parse(createdAt) + 1).toISOString();
  const answered = await aMessage(account, leadId, "sms");
  for (const [query, total] of Object.entries({
    [`id=${id}`]: 1,
    [`id=${id}&awaitingReplyAfter=${later}`]: 0,
    [`id=${answered.conversationId}`]: 0,
    [`leadId=${leadId}`]: 1,
    "leadId=lead_1": 0,
    "status=ACTIVE&channel=WhatsApp": 1,
    "channel=sms": 0,
    "status=closed": 0,
    [`createdAfter=${later}`]: 0,
    [`awaitingReplyAfter=${createdAt}&awaitingReplyBefore=${later}`]: 1,
    [`awaitingReplyAfter=${later}`]: 0,
    [`awaitingReplyBefore=${createdAt}`]: 0,
  }))
    expect([query, (await waiting(query)).pagination.total]).toEqual([query, total]);
});

test("the late failure of an old message does not change since when a lead with a hundred newer messages has waited", async () => {
  for (const text of ["out", ...Array(101).fill("in")]) await step(text);
  await step("0failed");
  expect((await waiting()).data).toMatchObject([{ awaitingReplySince: stored[1]?.createdAt }]);
});

test.each<[meanwhile: string, since?: number]>([
  ["2failed", 0],
  ["in", 0],
  ["out"],
  ["closed"],
  ["1delivered"],
])("when a reply fails while another request does %s, the lead waits as if one had followed the other", async (meanwhile, since) => {
  const others = meanwhile === "2failed" ? ["out"] : [];
  for (const text of ["in", "out", ...others]) await step(text);
  let isFirst = true;
  table.before = (command) => {
    if (!(command instanceof TransactWriteCommand) || !isFirst) return;
    isFirst = false;
    return step(meanwhile);
  };
  await report(account, stored[1] as Message, { delivery: "failed" });
  expect((await waiting()).data.map((row) => row.awaitingReplySince)).toEqual(
    since === undefined ? [] : [stored[since]?.createdAt],
  );
});
