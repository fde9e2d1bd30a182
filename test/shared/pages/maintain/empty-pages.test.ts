import { QueryCommand } from "@aws-sdk/lib-dynamodb";
import { afterEach, expect, test, vi } from "vitest";
import { table } from "../../../../shared/dynamodb/table-client.ts";
import { LeadHistory } from "../../../support/lead-history.ts";

afterEach(() => {
  vi.restoreAllMocks();
  vi.useRealTimers();
});

/** Lets each query that begins a range return no rows and a key to continue with. */
function withEmptyPages({ account, table: { memory } }: LeadHistory): void {
  const sendOrNothing = async (command: object) => {
    if (!(command instanceof QueryCommand)) return memory.send(command);
    const { ExclusiveStartKey: position } = command.input;
    if (!position) return { Items: [], LastEvaluatedKey: { pk: `LEAD#${account}`, sk: "empty" } };
    if (position.sk !== "empty") return memory.send(command);
    return memory.send(new QueryCommand({ ...command.input, ExclusiveStartKey: undefined }));
  };
  vi.spyOn(table, "send").mockImplementation(sendOrNothing as never);
}

test("an empty page that is not the last ends neither the tail of a maintainer nor that of a list", async () => {
  const history = new LeadHistory();
  history.addMany(60, { age: 10_000 });
  withEmptyPages(history);
  await history.deliver();
  history.advance(100_000);
  history.addMany(30, { age: 10_000 });
  for (const request of [
    { page: 1, limit: 20 },
    { page: 2, limit: 20 },
    { page: 4, limit: 20 },
    { page: 5, limit: 20 },
  ])
    expect(await history.list({}, request)).toEqual(history.expected({}, request));
  await history.deliver();
  expect(await history.list()).toEqual(history.expected());
});
