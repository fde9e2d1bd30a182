import { expect, test } from "vitest";
import { dataFormat } from "../../../shared/dynamodb/data-format.ts";
import { only, synthesize } from "../../support/stack/synthesize.ts";

const { template } = await synthesize("dev");
const { properties } = only(template, "AWS::DynamoDB::Table");

const copiedKeys = ["byStatus", "byLabel", "byStatusAndLabel", "byParent"];

const keys = (partition: string, sort: string) => [
  { AttributeName: partition, KeyType: "HASH" },
  { AttributeName: sort, KeyType: "RANGE" },
];

test("The table has every index of the key map, and only the index by activity copies what each message changes", () => {
  const fields = ["id", "status", "source", "leadId", "channel", "details", "addresses"];
  const ofMessages = ["messageCount", "lastMessage", "lastInboundAt", "awaitingReplySince"];
  expect(properties.GlobalSecondaryIndexes).toEqual([
    ...["by-status", "by-label", "by-status-and-label", "by-parent"].map((name, n) => ({
      IndexName: name,
      KeySchema: keys(String(copiedKeys[n]), "sk"),
      Projection: {
        ProjectionType: "INCLUDE",
        NonKeyAttributes: [...fields, ...copiedKeys.filter((other) => other !== copiedKeys[n])],
      },
    })),
    {
      IndexName: "by-activity",
      KeySchema: keys("pk", "activeAt"),
      Projection: { ProjectionType: "INCLUDE", NonKeyAttributes: [...fields, ...ofMessages] },
    },
    {
      IndexName: "by-waiting",
      KeySchema: keys("pk", "awaitingReplySince"),
      Projection: { ProjectionType: "INCLUDE", NonKeyAttributes: ["status", "leadId", "channel"] },
    },
  ]);
});

test("The table has the keys pk and sk, is on demand without a limit, streams both images, expires items, and has no other settings", () => {
  const { AttributeDefinitions, GlobalSecondaryIndexes, ...settings } = properties;
  for (const { AttributeType } of AttributeDefinitions) expect(AttributeType).toBe("S");
  expect(settings).toEqual({
    KeySchema: keys("pk", "sk"),
    TableName: "leads-and-conversations-dev",
    BillingMode: "PAY_PER_REQUEST",
    StreamSpecification: { StreamViewType: "NEW_AND_OLD_IMAGES" },
    TimeToLiveSpecification: { AttributeName: "expiresAt", Enabled: true },
    SSESpecification: { SSEEnabled: false },
    DeletionProtectionEnabled: false,
    PointInTimeRecoverySpecification: { PointInTimeRecoveryEnabled: false },
    // Commands that write compare this format with their own.
    Tags: [{ Key: "data-format", Value: String(dataFormat) }],
  });
});
