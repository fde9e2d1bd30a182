import { randomUUID } from "node:crypto";
import { setTimeout } from "node:timers/promises";
import { QueryCommand } from "@aws-sdk/lib-dynamodb";
import { expect, test } from "vitest";
import { call } from "../../support/requests/call.ts";
import { aLead, aMessage } from "../../support/requests/requests.ts";
import { beforeCall, smallPages, type TableCommand } from "../../support/tables/conditions.ts";
import { useTablesOfCommands } from "../../support/tables/memory-tables.ts";

useTablesOfCommands();

/** Six leads that wait for a reply, the longest waiting first. */
async function aQueue() {
  const account = randomUUID();
  const leads: string[] = [];
  while (leads.length < 6) {
    const { id } = await aLead(account);
    await aMessage(account, id, "sms", { direction: "inbound" });
    leads.push(id);
    // Each lead has waited for another time.
    await setTimeout(2);
  }
  return { account, first: String(leads[0]) };
}

/** Whether a command reads a page of an index after the first one. */
const readsOn = (index: string) => (command: TableCommand) =>
  command instanceof QueryCommand &&
  command.input.IndexName === index &&
  command.input.ExclusiveStartKey !== undefined;

test("a lead that is answered and waits again while the list is read is still listed", async () => {
  const { account, first } = await aQueue();
  using _pages = smallPages();
  using _moved = beforeCall(readsOn("by-waiting"), async () => {
    await aMessage(account, first, "sms");
    await aMessage(account, first, "sms", { direction: "inbound" });
  });
  const { body } = await call("list-conversations", { account, query: "awaitingReply=true" });
  expect([body.pagination.total, body.data.length]).toEqual([6, 6]);
});

test.each([
  "createdAt",
  "-createdAt",
])("a lead that changes while a window of changes is read by %s is still listed", async (sort) => {
  const { account, first } = await aQueue();
  using _pages = smallPages();
  using _moved = beforeCall(readsOn("by-activity"), () =>
    call("create-lead", { account, query: "ifExists=update", body: { id: first, name: "Changed" } }),
  );
  const query = `sort=${sort}&updatedAfter=2020-01-01T00:00:00Z`;
  const { body } = await call("list-leads", { account, query });
  expect([body.pagination.total, body.data.length]).toEqual([6, 6]);
});
