import { QueryCommand } from "@aws-sdk/lib-dynamodb";
import { expect, test, vi } from "vitest";
import { table } from "../../../../shared/dynamodb/table-client.ts";
import { readSegments, walk } from "../../../../shared/pages/read/range.ts";
import { countedLists } from "../../../../shared/pages/tree/counted-list.ts";

const list = countedLists.lead;
const lead = { list, partition: "p", rows: {} };
const [a, b, c] = ["A", "B", "C"].map((end) => `lead_${"0".repeat(25)}${end}`);

test.each([
  ["of sort keys", lead, { keysOnly: true }, true],
  ["of rows with a value", { ...lead, where: { status: "new" } }, {}, true],
  ["of all rows", lead, {}, false],
] as const)("pages %s after the first make a list a long one", async (_, range, bounds, isLong) => {
  const send = vi.spyOn(table, "send");
  const status = "new";
  for (const sk of [c, b])
    send.mockResolvedValueOnce({ Items: [{ sk, status }], LastEvaluatedKey: { pk: "p", sk } } as never);
  send.mockResolvedValueOnce({ Items: [{ sk: a, status }] } as never);
  const continues: unknown[] = [];
  const pages = readSegments(range, bounds, async (call, more) => {
    continues.push(more);
    return call({ abortSignal: new AbortController().signal });
  });
  const items = [];
  for await (const page of pages) items.push(...page.items);
  expect(items.map(({ sk }) => sk)).toEqual([c, b, a]);
  expect(send.mock.calls.every(([command]) => command instanceof QueryCommand)).toBe(true);
  expect(continues).toEqual([false, isLong, isLong]);
});

test("bounds between which no key lies make no call, which DynamoDB would reject", async () => {
  const call = vi.fn();
  const range = { list, partition: "LEAD#acme", rows: {} };
  for (const bounds of [{ before: "a", downTo: "b" }, { before: "a", downTo: "a" }, { before: "" }])
    expect(await walk(range, { ...bounds, maxRows: 5 }, call)).toEqual({ items: [], done: true });
  expect(call).not.toHaveBeenCalled();
});
