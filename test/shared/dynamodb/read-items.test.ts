import { ProvisionedThroughputExceededException } from "@aws-sdk/client-dynamodb";
import type { BatchGetCommand } from "@aws-sdk/lib-dynamodb";
import { expect, test, vi } from "vitest";
import { readItems, table, tableName } from "../../../shared/dynamodb/table-client.ts";

test("a batch of which the table reads only some at once is read to its end", async () => {
  vi.spyOn(table, "send").mockImplementation((async ({ input }: BatchGetCommand) => {
    const [first, ...Keys] = input.RequestItems?.[tableName]?.Keys ?? [];
    return {
      Responses: { [tableName]: [first] },
      ConsumedCapacity: [{ CapacityUnits: 97.5 }],
      ...(Keys[0] && { UnprocessedKeys: { [tableName]: { Keys } } }),
    };
  }) as never);
  const keys = [1, 2, 3].map((n) => ({ pk: "LEAD#acme", sk: `lead_${n}` }));
  const onUnits = vi.fn();
  expect(await readItems(keys, true, { onUnits })).toEqual(keys);
  // A list has a budget of them.
  expect(onUnits.mock.calls).toEqual([[97.5], [97.5], [97.5]]);
});

test("a batch of which the table reads nothing is an error, and not sent again at once", async () => {
  const send = vi.spyOn(table, "send").mockImplementation((async (command: { input: object }) => {
    // Nothing else could end a loop without a wait.
    if (send.mock.calls.length > 2) throw new Error("It was sent again.");
    return { UnprocessedKeys: Reflect.get(command.input, "RequestItems") };
  }) as never);
  const reading = readItems([{ pk: "LEAD#acme", sk: "lead_1" }], true);
  await expect(reading).rejects.toThrow(ProvisionedThroughputExceededException);
  expect(send).toHaveBeenCalledTimes(1);
});
