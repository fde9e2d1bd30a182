import { setTimeout } from "node:timers/promises";
import { TransactWriteCommand } from "@aws-sdk/lib-dynamodb";
import type { DynamoDBRecord } from "aws-lambda";
import { beforeEach, expect, test } from "vitest";
import { storeDelivery } from "../../../shared/channels/store-delivery.ts";
import { toEvents } from "../../../shared/domain/events.ts";
import type { Message } from "../../../shared/schemas/conversation-schemas.ts";
import { givenUp } from "../../../shared/schemas/field-schemas.ts";
import { call } from "../../support/requests/call.ts";
import { aLead, aMessage, report, setStatus } from "../../support/requests/requests.ts";
import { useTable, WatchedTable } from "../../support/tables/watched-table.ts";

const account = "acme";
const table = useTable();
let leadId: string;
beforeEach(async () => {
  ({ id: leadId } = await aLead(account));
});

const waiting = async () => (await call("list-conversations", { account, query: "awaitingReply=true" })).body;

/** The stored messages: `in` from the lead, and `out` to it. */
type Stored = Message[];

const idsOf = ({ id, conversationId }: Message) => ({ id, conversationId });

/** Makes a step: `in`, `out`, a status of the conversation, or a report of the n-th message, counted from 0. */
async function step(stored: Stored, text: string): Promise<unknown> {
  const [, n, state] = /^(\d)(.*)$/.exec(text) ?? [];
  const message = stored[Number(n)];
  if (message && state === "given-up")
    return storeDelivery(account, { ...idsOf(message), delivery: "failed", deliveryError: `${givenUp}503` });
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
  const stored: Stored = [];
  for (const text of steps.split(" ")) await step(stored, text);
  const { data, pagination } = await waiting();
  const awaitingReplySince = since === undefined ? undefined : stored[since]?.createdAt;
  const rows = awaitingReplySince ? [expect.objectContaining({ leadId, awaitingReplySince })] : [];
  expect([data, pagination.total]).toEqual([rows, rows.length]);
});

test("the late failure of an old message does not change since when a lead with a hundred newer messages has waited", async () => {
  const stored: Stored = [];
  for (const text of ["out", ...Array(101).fill("in")]) await step(stored, text);
  await step(stored, "0failed");
  expect((await waiting()).data).toMatchObject([{ awaitingReplySince: stored[1]?.createdAt }]);
});

test("a lead whose reply failed returns to its old place in the list, with an event", async () => {
  const records: DynamoDBRecord[] = [];
  new WatchedTable(records);
  const leads = [await aLead(account), await aLead(account)];
  for (const { id } of leads) {
    await aMessage(account, id, "sms", { direction: "inbound" });
    // Leads that have waited for the same time are in any order.
    await setTimeout(2);
  }
  const reply = await aMessage(account, String(leads[0]?.id), "sms");
  records.length = 0;
  await report(account, reply, { delivery: "failed" });
  const { data } = await waiting();
  expect(data.map((row) => row.leadId)).toEqual(leads.map(({ id }) => id));
  expect(toEvents(records)).toMatchObject([
    { type: "message.updated", changed: ["delivery"] },
    { type: "conversation.updated", changed: ["awaitingReplySince"], conversation: data[0] },
  ]);
});

test.each<[meanwhile: string, since?: number]>([
  ["2failed", 0],
  ["in", 0],
  ["out"],
  ["closed"],
  ["1delivered"],
])("when a reply fails while another request does %s, the lead waits as if one had followed the other", async (meanwhile, since) => {
  const stored: Stored = [];
  const others = meanwhile === "2failed" ? ["out"] : [];
  for (const text of ["in", "out", ...others]) await step(stored, text);
  let isFirst = true;
  table.before = (command) => {
    if (!(command instanceof TransactWriteCommand) || !isFirst) return;
    isFirst = false;
    return step(stored, meanwhile);
  };
  await report(account, stored[1] as Message, { delivery: "failed" });
  expect((await waiting()).data.map((row) => row.awaitingReplySince)).toEqual(
    since === undefined ? [] : [stored[since]?.createdAt],
  );
});

test("a report that is no failure reads and writes only the message", async () => {
  const stored: Stored = [];
  for (const text of ["in", "out"]) await step(stored, text);
  const calls: number[] = [];
  for (const delivery of ["sent", "delivered", "failed", "read"]) {
    table.calls = [];
    await report(account, stored[1] as Message, { delivery });
    calls.push(table.calls.length);
  }
  expect(calls).toEqual([2, 2, 1, 2]);
});
