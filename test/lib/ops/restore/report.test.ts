import { expect, test } from "vitest";
import { findDiffering, toLines } from "../../../../lib/ops/restore/report.ts";

const none = { create: 0, replace: 0, delete: 0 };
const nothing = { leads: none, conversations: none, messages: none, pointers: none };
const outcome = {
  accounts: [
    {
      account: "acme",
      changes: { ...nothing, leads: { ...none, create: 2, delete: 1 }, messages: { ...none, create: 3 } },
    },
    { account: "beta", changes: nothing },
  ],
  gone: [],
};
const restored = { from: "restored", at: "2026-11-21T06:00:00.000Z", added: [] };

test("only accounts that differ are listed, with what differs", () => {
  expect(findDiffering(outcome).map(({ account }) => account)).toEqual(["acme"]);
  expect(toLines(outcome, restored, "planned")).toEqual([
    "1 of 2 accounts differ from restored, which has the data of 2026-11-21T06:00:00.000Z.",
    "acme: create 2 leads, 3 messages; delete 1 leads",
  ]);
  expect(toLines(outcome, restored, "done")[1]).toBe("acme: created 2 leads, 3 messages; deleted 1 leads");
});

test("accounts that are left alone are named", () => {
  expect(
    toLines({ accounts: [], gone: ["old", "older"] }, { ...restored, added: ["new"] }, "planned"),
  ).toEqual([
    "0 of 0 accounts differ from restored, which has the data of 2026-11-21T06:00:00.000Z.",
    "Left alone, because the live table has no leads and conversations of them, perhaps because they were erased: old, older. --account restores one of them.",
    "Left alone, because restored has nothing of them: new.",
  ]);
});
