import { expect, test } from "vitest";
import { countedChanges } from "../../../../shared/pages/maintain/changes.ts";
import { countedLists, keyAt } from "../../../../shared/pages/tree/counted-list.ts";
import { limits } from "../../../../shared/pages/tree/tree-limits.ts";
import { idOf, storedConversation, storedLead } from "../../../support/tables/stored.ts";
import { streamRecord } from "../../../support/tables/stream-record.ts";

const lead = storedLead(idOf("lead", 1));
const conversation = storedConversation(idOf("conv", 1));

test.each([
  ["another score", lead, { ...lead, score: 1 }],
  ["a lead that is added to the list of its email address", lead, { ...lead, byParent: "LEAD#acme#a%40b.c" }],
  [
    "another time of the last message",
    conversation,
    { ...conversation, activeAt: "2026-07-11T00:00:00.000Z" },
  ],
  ["an item that is in no list", undefined, { ...lead, pk: "MESSAGE#acme#conv_1" }],
  ["an item whose sort key is no id", undefined, { ...lead, sk: "x" }],
  ["an item whose sort key has text after its id", undefined, { ...lead, sk: `${lead.sk}\u{1F600}` }],
  ["a count itself", undefined, { pk: "COUNT#acme#LEAD", sk: "root" }],
])("does not count %s", (_, before, after) => {
  expect(countedChanges([streamRecord(before, after)])).toEqual([]);
});

const second = 1_780_000_000_000;
// The record has whole seconds, so the write may have come up to a second later; and clocks differ.
const earliest = second + 1000 - limits.allowedLateness + limits.skew;

/** The kind of the change of a row with an id of a time. @param written when; undefined if the record does not tell */
function kindOf(time: number, written: number | undefined, before?: object, after?: object) {
  const row = storedLead(`${keyAt(countedLists.lead, time)}0000000000000000`);
  const record = streamRecord(before && { ...row, ...before }, after && { ...row, ...after }, written);
  if (written === undefined) delete record.dynamodb?.ApproximateCreationDateTime;
  return countedChanges([record])[0]?.rows[0]?.kind;
}

test.each([
  ["created", "in the second of its id", second, second],
  ["created", "at the end of the allowed lateness", earliest, second],
  ["created", "late in the last second of the allowed lateness", earliest, second + 999],
  ["created", "by a clock that is ahead", second + limits.skew, second],
  ["changed", "after the allowed lateness", earliest - 1, second],
  ["changed", "late in the second after the allowed lateness", earliest - 1, second + 999],
  ["changed", "decades later", 0, second],
  ["changed", "at an unknown time", Date.now(), undefined],
])('a row is "%s" if it was written %s', (kind, _, time, written) => {
  expect(kindOf(time, written, undefined, {})).toBe(kind);
});

test.each([0, second])('a row that existed before is "changed", however old it is: %i', (time) => {
  for (const after of [{ status: "booked" }, undefined])
    for (const written of [second, undefined]) expect(kindOf(time, written, {}, after)).toBe("changed");
});
