import {
  ConditionalCheckFailedException,
  DescribeTableCommand,
  ListTagsOfResourceCommand,
} from "@aws-sdk/client-dynamodb";
import {
  DynamoDBDocumentClient,
  GetCommand,
  PutCommand,
  QueryCommand,
  UpdateCommand,
} from "@aws-sdk/lib-dynamodb";
import { beforeEach, expect, test } from "vitest";
import { importCommand } from "../../../../lib/ops/leads/leads-import.ts";
import { dataFormat, dataFormatTag } from "../../../../shared/dynamodb/data-format.ts";
import { runJson } from "../../../support/command.ts";
import { leadFile } from "../../../support/lead-files.ts";
import { mockClient } from "../../../support/mocked-client.ts";

const table = mockClient(DynamoDBDocumentClient);
const named = (name: string) => Object.assign(new Error("Not now."), { name });
const importStart = "2026-01-01T00:00:00.000Z";

beforeEach(() => {
  table.reset();
  table.on(UpdateCommand).resolves({ Attributes: { startedAt: importStart } });
  // No lead is erased or stored, and the account has a key.
  table.on(QueryCommand).resolves({});
  table.on(QueryCommand, { IndexName: "by-parent" }).resolves({ Items: [{ pk: "KEY" }] });
  table.on(GetCommand).resolves({});
  table.on(DescribeTableCommand).resolves({});
  table.on(ListTagsOfResourceCommand).resolves({ Tags: [{ Key: dataFormatTag, Value: String(dataFormat) }] });
});

/** Imports leads in this process. */
async function importRows(count: number, ...options: string[]) {
  const names = Array.from({ length: count }, (_, i) => `Lead ${i}`);
  const path = await leadFile(`name\n${names.join("\n")}\n`);
  return runJson(importCommand(), path, "--account", "a", ...options);
}

test("a row whose first response was lost was imported now, a row of an earlier import was not", async () => {
  let runId = "";
  table.on(PutCommand).callsFake(({ Item }) => {
    runId = Item.imported;
    throw Item.name === "Lead 0"
      ? named("TimeoutError")
      : new ConditionalCheckFailedException({ message: "", $metadata: {} });
  });
  table.on(GetCommand).callsFake(({ Key }) => {
    const tried = table.commandCalls(PutCommand).map(({ args: [{ input }] }) => input.Item);
    const Item = tried.find((item) => item?.sk === Key.sk);
    return Item ? { Item: { ...Item, imported: Item === tried[0] ? runId : "earlier" } } : {};
  });
  const { output } = await importRows(2);
  expect(output).toMatchObject({ imported: 1, present: 1 });
});

test("--units limits the rows per second, and at most 32 are written concurrently", async () => {
  let [concurrent, most] = [0, 0];
  table.on(PutCommand).callsFake(async () => {
    most = Math.max(most, ++concurrent);
    await new Promise((resolve) => setTimeout(resolve, 20));
    concurrent -= 1;
  });
  const startedAt = performance.now();
  // A row writes one unit, which is worth three.
  await importRows(70, "--units", "300");
  expect(performance.now() - startedAt).toBeGreaterThan(450);
  await importRows(200, "--units", "1000000");
  expect(most).toBe(32);
});
