import { expect, test } from "vitest";
import { sumOutcome, toLines } from "../../../../lib/ops/restore/report.ts";

const none = { create: 0, replace: 0, delete: 0 };
const nothing = { leads: none, conversations: none, messages: none, pointers: none };
const outcome = [
  {
    account: "acme",
    changes: { ...nothing, leads: { ...none, create: 2, delete: 1 }, messages: { ...none, create: 3 } },
  },
  { account: "beta", changes: nothing },
];
const restored = {
  from: "restored",
  at: "2026-11-21T06:00:00.000Z",
  accounts: ["acme", "beta"],
  gone: [],
  added: [],
};

test("only accounts that differ are listed, with what differs", () => {
  expect(sumOutcome(outcome)).toBe(6);
  expect(toLines(outcome, restored, "planned")).toEqual([
    "1 of 2 accounts differ from restored, which has the data of 2026-11-21T06:00:00.000Z.",
    "acme: create 2 leads, 3 messages; delete 1 leads",
  ]);
  expect(toLines(outcome, restored, "done")[1]).toBe("acme: created 2 leads, 3 messages; deleted 1 leads");
});

test("accounts that are left alone are named", () => {
  expect(
    toLines([], { ...restored, accounts: [], gone: ["old", "older"], added: ["new"] }, "planned"),
  ).toEqual([
    "0 of 0 accounts differ from restored, which has the data of 2026-11-21T06:00:00.000Z.",
    "Left alone, because they were erased, or never were in this table: old, older. --account restores one of them.",
    "Left alone, because restored has nothing of them: new.",
  ]);
});
