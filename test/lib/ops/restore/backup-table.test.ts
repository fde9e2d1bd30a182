import { DescribeTableCommand, type TableDescription } from "@aws-sdk/client-dynamodb";
import { DynamoDBDocumentClient } from "@aws-sdk/lib-dynamodb";
import { expect, test } from "vitest";
import { Pace } from "../../../../lib/ops/pace.ts";
import { checkBackupTable } from "../../../../lib/ops/restore/backup-table.ts";
import { tableName } from "../../../../shared/dynamodb/table-client.ts";
import { mockClient } from "../../../support/mocked-client.ts";

const dynamodb = mockClient(DynamoDBDocumentClient);
const restoredTo = new Date("2026-11-21T06:00:00Z");

function check(table: TableDescription, at?: number) {
  dynamodb.on(DescribeTableCommand as never).resolves({
    Table: {
      TableName: "restored",
      TableStatus: "ACTIVE",
      KeySchema: [
        { AttributeName: "pk", KeyType: "HASH" },
        { AttributeName: "sk", KeyType: "RANGE" },
      ],
      RestoreSummary: { RestoreDateTime: restoredTo, RestoreInProgress: false },
      ...table,
    },
  } as never);
  return checkBackupTable("restored", at, new Pace());
}

test("the time of the data is that to which the table was restored, unless another one is named", async () => {
  expect(await check({})).toBe(restoredTo.getTime());
  expect(await check({}, 1000)).toBe(1000);
});

test("a table that is being restored has to become active first", async () => {
  await expect(check({ TableStatus: "CREATING" })).rejects.toThrow(
    "The table restored is CREATING: wait until it is ACTIVE.",
  );
});

test("a time after that of the data, and a copy of another table, are refused", async () => {
  await expect(check({}, restoredTo.getTime() + 1)).rejects.toThrow(
    "The data of the table restored is of 2026-11-21T06:00:00.000Z: --at must not be later.",
  );
  const SourceTableArn = "arn:aws:dynamodb:eu-central-1:111122223333:table/other";
  const RestoreSummary = { RestoreDateTime: restoredTo, RestoreInProgress: false, SourceTableArn };
  await expect(check({ RestoreSummary })).rejects.toThrow(
    `The table restored was restored from other, not from ${tableName}: name another one.`,
  );
});
