import { PutCommand, UpdateCommand } from "@aws-sdk/lib-dynamodb";
import { expect, test } from "vitest";
import { erase } from "../../../../lib/ops/erasure/erase.ts";
import { readErasedIds } from "../../../../lib/ops/erasure/erased-leads.ts";
import { Findings } from "../../../../lib/ops/erasure/findings.ts";
import { sweepErasedSince } from "../../../../lib/ops/erasure/sweep-erased.ts";
import { leadKey, messageKey } from "../../../../shared/dynamodb/keys.ts";
import { Pace } from "../../../../shared/dynamodb/pace.ts";
import { type Item, readItem, tableName } from "../../../../shared/dynamodb/table-client.ts";
import { useMemoryTable } from "../../../support/memory-leads.ts";
import { storedConversation, storedLead } from "../../../support/stored.ts";

const lead = storedLead("lead_1");
const conversation = storedConversation("conv_1");
const message = { ...messageKey("acme", "conv_1", "msg_1"), id: "msg_1", leadId: "lead_1", message: "Hello" };

const findings = () => new Findings({ account: "acme", leads: new Set(["lead_1"]) });

/** A table, and a wait in which a request stores items that had found the lead before. */
function start() {
  // The table in memory cannot remove an attribute, and the end of an erasure does nothing else.
  const memory = useMemoryTable(async (command, send) =>
    command instanceof UpdateCommand && command.input.UpdateExpression === "REMOVE pending"
      ? {}
      : send(command),
  );
  const put = (Item: Item) => memory.send(new PutCommand({ TableName: tableName, Item }));
  const waits: number[] = [];
  const wait = async (milliseconds: number) => {
    waits.push(milliseconds);
    // From the first step on, no request finds the lead.
    expect(await readItem(leadKey("acme", "lead_1"))).toBeUndefined();
    for (const item of [conversation, message]) await put(item);
  };
  const left = () => [...memory.items()].map(({ pk }) => String(pk).split("#")[0]);
  return { put, waits, left, pace: new Pace(1_000_000, wait) };
}

test("an erasure waits until the requests that had found the lead have written, and deletes that too", async () => {
  const { put, waits, left, pace } = start();
  await put(lead);
  const found = findings();
  await erase(found, { pace, scan: false });
  expect(found.counts.message).toBe(1);
  expect(left()).toEqual(["ERASED"]);
  // Four calls of 2.5 seconds, and 0.3 seconds in which a message that lost is retried.
  expect(waits).toEqual([expect.toSatisfy((milliseconds: number) => milliseconds >= 10_300)]);
});

test("an import that has stored an erased lead deletes it, waits for what had found it, and deletes that too", async () => {
  const { put, waits, left, pace } = start();
  await put(lead);
  await erase(findings(), { pace: new Pace(1_000_000, async () => {}), scan: false });
  await put(lead);
  await sweepErasedSince("acme", new Set(), async function* () {}, pace);
  expect(left()).toEqual(["ERASED"]);
  expect(waits).toEqual([expect.toSatisfy((milliseconds: number) => milliseconds >= 32_000)]);
  // One that has met nothing of the erased leads has nothing to wait for.
  await sweepErasedSince("acme", await readErasedIds("acme", pace), async function* () {}, pace);
  expect(waits).toHaveLength(1);
});
