import { TransactGetCommand } from "@aws-sdk/lib-dynamodb";
import { expect, test } from "vitest";
import { tableName as TableName, table, takeUnits } from "../../../shared/dynamodb/table-client.ts";

test("a transaction that reads consumes read units: two for an item", async () => {
  const Get = { TableName, Key: { pk: "COUNT#acme#LEAD", sk: "root" } };
  await table.send(new TransactGetCommand({ TransactItems: [{ Get }] }));
  expect(takeUnits()).toEqual({ reads: 2, writes: 0 });
});
