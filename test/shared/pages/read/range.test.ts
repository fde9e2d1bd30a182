import { beforeEach, describe, expect, test, vi } from "vitest";
import { TooExpensiveError } from "../../../../shared/dynamodb/dynamodb-errors.ts";
import type { Item } from "../../../../shared/dynamodb/table-client.ts";
import { newId } from "../../../../shared/ids.ts";
import type { Call } from "../../../../shared/pages/read/read-budget.ts";
import { walk } from "../../../../shared/pages/read/row-reader.ts";
import { countedLists } from "../../../../shared/pages/tree/counted-list.ts";
import { useTable } from "../../../support/tables/watched-table.ts";

const range = { list: countedLists.lead, partition: "LEAD#acme" };
const start = Date.UTC(2026, 0, 1);

const table = useTable();
beforeEach(() => vi.spyOn(console, "error").mockReturnValue());

const send: Call = (call) => call({ abortSignal: new AbortController().signal });

/** Stores items, the first one as the newest. */
function put(count: number, of: (n: number) => Item = () => ({})): void {
  for (let n = 0; n < count; n++)
    table.memory.put({ pk: range.partition, sk: newId("lead", start - n), ...of(n) });
}

test.each<[string, (n: number) => Item, object]>([
  ["items that are no rows", (n) => ({ sk: `${newId("lead", start - n)}é` }), {}],
  ["rows that are not asked for", () => ({ name: "x" }), { where: ({ name }: Item) => name === undefined }],
])("a few rows among many %s are found in few calls, each of which reads twice as many items", async (_, other, where) => {
  put(3000, (n) => (n === 0 || n === 2999 ? {} : other(n)));
  const { result, calls } = await table.watch(() => walk({ ...range, ...where }, { maxRows: 2 }, send));
  expect(result.items).toHaveLength(2);
  expect(calls.map(({ input }) => input.Limit)).toEqual([2, 200, 400, 800, 1600]);
});

test("rows of more than 1 MB take no more calls and units than they need", async () => {
  put(40, () => ({ name: "x".repeat(100_000) }));
  const { result, calls } = await table.watch(() => walk(range, { maxRows: 20 }, send));
  expect(result.items).toHaveLength(20);
  expect(calls.map(({ input }) => input.Limit)).toEqual([20, 9]);
});

describe("when the budget is used up, the error states", () => {
  const read = async () => {
    let calls = 0;
    const call: Call = async (make) => {
      if (++calls > 3) throw new TooExpensiveError("too_many_reads", "The list has too many rows.");
      return send(make);
    };
    await walk(range, {}, call);
  };

  test.each<[string, number, (n: number) => Item, string]>([
    ["rows", 400, () => ({ name: "x".repeat(15_000) }), "too_many_reads"],
    [
      "rows, and a few items",
      400,
      (n) => (n % 3 ? { name: "x".repeat(15_000) } : { sk: `lead_0${1000 + n}` }),
      "too_many_reads",
    ],
    [
      "items that are no rows",
      400,
      (n) => ({ sk: `lead_0${1000 + n}`, name: "x".repeat(15_000) }),
      "invalid_items",
    ],
    ["rows that no route stores", 20, () => ({ name: "x".repeat(390_000) }), "invalid_items"],
  ])("that there are too many %s", async (_, count, of, code) => {
    put(count, of);
    await expect(read()).rejects.toMatchObject({ name: "TooExpensiveError", code });
  });
});
