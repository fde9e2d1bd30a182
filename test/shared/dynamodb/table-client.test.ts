import { DynamoDBClient, ProvisionedThroughputExceededException } from "@aws-sdk/client-dynamodb";
import type { BatchGetCommand } from "@aws-sdk/lib-dynamodb";
import { expect, test, vi } from "vitest";
import { createTableClient, readItems, table, tableName } from "../../../shared/dynamodb/table-client.ts";

test("a function without the name of its table does not start", async () => {
  vi.stubEnv("AWS_LAMBDA_FUNCTION_NAME", "list-leads");
  vi.stubEnv("TABLE_NAME", undefined);
  vi.resetModules();
  await expect(import("../../../shared/dynamodb/table-client.ts")).rejects.toThrow("TABLE_NAME is not set.");
});

test("clients of the table do not have the SDK's logger, which would filter every response in vain", () => {
  const isLogger = (name: string) => name.startsWith("loggerMiddleware");
  expect(new DynamoDBClient().middlewareStack.identify().some(isLogger)).toBe(true);
  for (const { middlewareStack } of [table, createTableClient({})])
    expect(middlewareStack.identify().filter(isLogger)).toEqual([]);
});

test("a batch is read to its end if each call returns only some of its items", async () => {
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
  // The budget of a list needs the units of each call.
  expect(onUnits.mock.calls).toEqual([[97.5], [97.5], [97.5]]);
});

test("a batch of which the table returns nothing fails, and is not retried at once", async () => {
  const send = vi.spyOn(table, "send").mockImplementation((async (command: { input: object }) => {
    // Without this error, a loop that does not wait would never end.
    if (send.mock.calls.length > 2) throw new Error("It was sent again.");
    return { UnprocessedKeys: Reflect.get(command.input, "RequestItems") };
  }) as never);
  const reading = readItems([{ pk: "LEAD#acme", sk: "lead_1" }], true);
  await expect(reading).rejects.toThrow(ProvisionedThroughputExceededException);
  expect(send).toHaveBeenCalledTimes(1);
});
