import { DynamoDBClient } from "@aws-sdk/client-dynamodb";
import { expect, test, vi } from "vitest";
import { createTableClient, table } from "../../../shared/dynamodb/table-client.ts";

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
