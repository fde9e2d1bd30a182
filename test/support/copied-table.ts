import { randomUUID } from "node:crypto";
import { CreateTableCommand, DeleteTableCommand, waitUntilTableExists } from "@aws-sdk/client-dynamodb";
import { inject, onTestFinished } from "vitest";
import { table } from "../../shared/dynamodb/table-client.ts";
import { putItems, tableItems } from "./table-items.ts";

/** Copies the table without its indexes, as a restore to this moment can, and deletes the copy after the test. @returns its name */
export async function copyTable(): Promise<string> {
  const TableName = `restored-${randomUUID()}`;
  const { KeySchema, AttributeDefinitions: all = [], BillingMode } = inject("engine").table;
  const AttributeDefinitions = all.filter(({ AttributeName = "" }) => ["pk", "sk"].includes(AttributeName));
  await table.send(new CreateTableCommand({ TableName, KeySchema, AttributeDefinitions, BillingMode }));
  await waitUntilTableExists({ client: table, maxWaitTime: 60, minDelay: 0.1, maxDelay: 1 }, { TableName });
  onTestFinished(() => table.send(new DeleteTableCommand({ TableName })).then(() => {}));
  await putItems(TableName, [...(await tableItems()).values()]);
  return TableName;
}
