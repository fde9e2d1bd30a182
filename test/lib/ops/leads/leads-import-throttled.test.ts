import { DescribeTableCommand, ListTagsOfResourceCommand } from "@aws-sdk/client-dynamodb";
import {
  DynamoDBDocumentClient,
  GetCommand,
  PutCommand,
  QueryCommand,
  UpdateCommand,
} from "@aws-sdk/lib-dynamodb";
import { expect, test } from "vitest";
import { importCommand } from "../../../../lib/ops/leads/leads-import.ts";
import { dataFormat, dataFormatTag } from "../../../../shared/dynamodb/data-format.ts";
import { runJson } from "../../../support/command.ts";
import { leadFile } from "../../../support/lead-files.ts";
import { mockClient } from "../../../support/mocked-client.ts";

test("--units limits the rows per second, and at most 32 are written concurrently", async () => {
  const table = mockClient(DynamoDBDocumentClient);
  table.on(UpdateCommand).resolves({ Attributes: { startedAt: "2026-01-01T00:00:00.000Z" } });
  // No lead is erased or stored, and the account has a key.
  table.on(QueryCommand).resolves({});
  table.on(QueryCommand, { IndexName: "by-parent" }).resolves({ Items: [{ pk: "KEY" }] });
  table.on(GetCommand).resolves({});
  table.on(DescribeTableCommand).resolves({});
  table.on(ListTagsOfResourceCommand).resolves({ Tags: [{ Key: dataFormatTag, Value: String(dataFormat) }] });
  let [concurrent, most] = [0, 0];
  table.on(PutCommand).callsFake(async () => {
    most = Math.max(most, ++concurrent);
    await new Promise((resolve) => setTimeout(resolve, 20));
    concurrent -= 1;
  });
  const importRows = async (count: number, units: string) => {
    const path = await leadFile(`name\n${"Ada\n".repeat(count)}`);
    return runJson(importCommand(), path, "--account", "a", "--units", units);
  };
  const startedAt = performance.now();
  // A row writes one unit, which is worth three.
  await importRows(70, "300");
  expect(performance.now() - startedAt).toBeGreaterThan(450);
  await importRows(200, "1000000");
  expect(most).toBe(32);
});
