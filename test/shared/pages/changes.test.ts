import { expect, test } from "vitest";
import { countedChanges } from "../../../shared/pages/maintenance/changes.ts";
import { storedConversation, storedLead } from "../../support/stored.ts";
import { streamRecord } from "../../support/stream-record.ts";

const lead = storedLead("lead_1");
const conversation = storedConversation("conv_1");

test.each([
  ["a created lead", undefined, lead],
  ["a deleted lead", lead, undefined],
  ["another status", lead, { ...lead, status: "booked" }],
  ["another source", { ...lead, source: "a" }, { ...lead, source: "b" }],
  ["a first source", lead, { ...lead, source: "a" }],
  ["another channel", conversation, { ...conversation, channel: "sms" }],
])("counts %s", (_, before, after) => {
  const record = streamRecord(before, after);
  const [changes, ...others] = countedChanges([record]);
  expect(others).toEqual([]);
  expect(changes?.keys).toEqual([(after ?? before)?.sk]);
  expect(changes?.sequenceNumbers).toEqual([record.dynamodb?.SequenceNumber]);
});

test.each([
  ["another score", lead, { ...lead, score: 1 }],
  [
    "another time of the last message",
    conversation,
    { ...conversation, lastMessageAt: "2026-07-11T00:00:00.000Z" },
  ],
  ["an item that is in no list", undefined, { ...lead, pk: "MESSAGE#acme#conv_1" }],
])("does not count %s", (_, before, after) => {
  expect(countedChanges([streamRecord(before, after)])).toEqual([]);
});
