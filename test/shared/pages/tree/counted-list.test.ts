import { expect, test } from "vitest";
import { countedLists } from "../../../../shared/pages/tree/counted-list.ts";

test("statuses keep their places, and a new one comes last", () => {
  // Trees store the number of rows of a status by its place in this list, and during a deployment the maintainers of the
  // last release still use their order. With another order, the totals of all lists would be wrong without a sign.
  const ofLeads = ["new", "qualified", "booked"];
  expect(countedLists.lead.statuses.slice(0, ofLeads.length)).toEqual(ofLeads);
  // Leads have no other status. Conversations may have one, and are then counted at the place after the last.
  expect(countedLists.conversation.statuses).toEqual(["active", "closed"]);
});
