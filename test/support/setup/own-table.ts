import { randomUUID } from "node:crypto";
import { CreateTableCommand, DeleteTableCommand, DynamoDBClient } from "@aws-sdk/client-dynamodb";
import { afterAll, inject } from "vitest";
import { dataFormat, dataFormatTag } from "../../../shared/dynamodb/data-format.ts";
import { engineEndpoint } from "./engine-endpoint.ts";

/** Creates a table for each test file, as the template defines it, and deletes it afterwards. */
const { table } = inject("engine");
process.env.AWS_ENDPOINT_URL_DYNAMODB = engineEndpoint;
process.env.AWS_REGION ??= "local";
process.env.AWS_ACCESS_KEY_ID ??= "local";
process.env.AWS_SECRET_ACCESS_KEY ??= "local";
process.env.TABLE_NAME = `test-${randomUUID()}`;

const client = new DynamoDBClient();
const TableName = process.env.TABLE_NAME;
const Tags = [{ Key: dataFormatTag, Value: String(dataFormat) }];
await client.send(new CreateTableCommand({ ...table, TableName, Tags }));

afterAll(async () => {
  await client.send(new DeleteTableCommand({ TableName }));
  client.destroy();
});
