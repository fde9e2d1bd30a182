import { expect, test } from "vitest";
import { countedLists } from "../../../../shared/pages/tree/counted-list.ts";

test("statuses keep their places, and a new one comes last", () => {
  // Trees store the number of rows of a status by its place in the list, and the maintainers of the last release go on with
  // theirs during a deployment: with another order, totals of all stored lists are wrong, and nothing notices it.
  const ofLeads = ["new", "qualified", "booked"];
  expect(countedLists.lead.statuses.slice(0, ofLeads.length)).toEqual(ofLeads);
  // No lead has another status. Conversations may, and these are counted at the place of the next one.
  expect(countedLists.conversation.statuses).toEqual(["active", "closed"]);
});
