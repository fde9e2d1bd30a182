import { BatchGetCommand, PutCommand } from "@aws-sdk/lib-dynamodb";
import { expect, test } from "vitest";
import { nodePrefix } from "../../shared/dynamodb/keys.ts";
import { table, tableName } from "../../shared/dynamodb/table-client.ts";
import { installMeter, metered } from "./meter.ts";

installMeter();

test.each([
  ["nodes", `${nodePrefix}1`],
  ["rows", "lead_1"],
])("a batch counts as a read of %s", async (part, sk) => {
  const Keys = [
    { pk: "a", sk },
    { pk: "b", sk },
  ];
  for (const Item of Keys) await table.send(new PutCommand({ TableName: tableName, Item }));
  const RequestItems = { [tableName]: { Keys, ConsistentRead: true } };
  const { calls } = await metered(() => table.send(new BatchGetCommand({ RequestItems })));
  expect(calls).toMatchObject([{ part, read: 2, write: 0 }]);
});
