import { describe, expect, test } from "vitest";
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

describe("the kind of a change", () => {
  const second = 1_780_000_000;
  const idAt = (time: number) => `${keyAt(countedLists.lead, time)}0000000000000000`;
  const kindOf = (before: object | undefined, after: object | undefined, time: number | undefined) => {
    const record = streamRecord(before as never, after as never, time);
    if (time === undefined) delete record.dynamodb?.ApproximateCreationDateTime;
    return countedChanges([record])[0]?.rows[0]?.kind;
  };
  const createdAt = (time: number, written: number | undefined) =>
    kindOf(undefined, storedLead(idAt(time)), written);
  // The record has whole seconds, so the write may have come up to a second later; and clocks differ.
  const earliest = 1000 * (second + 1) - limits.allowedLateness + limits.skew;

  test('is "created" for a row that was surely written within the allowed lateness of its id', () => {
    expect(createdAt(1000 * second, 1000 * second)).toBe("created");
    expect(createdAt(earliest, 1000 * second)).toBe("created");
    expect(createdAt(earliest, 1000 * second + 999)).toBe("created");
    // The clock of the writer is ahead.
    expect(createdAt(1000 * second + limits.skew, 1000 * second)).toBe("created");
  });

  test('is "changed" for a row that may have been written later', () => {
    expect(createdAt(earliest - 1, 1000 * second)).toBe("changed");
    expect(createdAt(earliest - 1, 1000 * second + 999)).toBe("changed");
    expect(createdAt(0, 1000 * second)).toBe("changed");
  });

  test('is "changed" for a row that was written at an unknown time', () => {
    expect(createdAt(Date.now(), undefined)).toBe("changed");
  });

  test('is "changed" for a row that existed before, however old it is', () => {
    for (const time of [0, 1000 * second]) {
      const row = storedLead(idAt(time));
      for (const after of [{ ...row, status: "booked" }, undefined])
        for (const written of [1000 * second, undefined]) expect(kindOf(row, after, written)).toBe("changed");
    }
  });
});
