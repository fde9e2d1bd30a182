import { expect, test } from "vitest";
import { only, synthesize } from "../../support/stack/synthesize.ts";

const { template, aliases, local } = await synthesize("prod");

test.each([
  ["Counting", "maintain-counts", { BatchSize: 10_000, MaximumBatchingWindowInSeconds: 1 }, 1000],
  ["Events", "publish-events", { BatchSize: 100 }, 0],
])("The reader of %s, %s, reads the stream from its beginning and in order, one batch of a shard at a time, and keeps failed batches for 14 days", (construct, name, batches, window) => {
  const source = only(template, "AWS::Lambda::EventSourceMapping", construct);
  const { FunctionName, FilterCriteria, ...settings } = source.properties;
  const failures = only(template, "AWS::SQS::Queue", construct);
  const [reader] = [...aliases].find(([, alias]) => alias === name) ?? [];
  expect(JSON.stringify(FunctionName)).toMatch(new RegExp(`"Ref":"${reader}".*":live"`));
  const [reading] = local.eventSources.filter((each) => each.function.label === name);
  expect(reading).toMatchObject({ batchSize: batches.BatchSize, window });
  expect(settings).toEqual({
    ...batches,
    EventSourceArn: { "Fn::GetAtt": [only(template, "AWS::DynamoDB::Table").id, "StreamArn"] },
    StartingPosition: "TRIM_HORIZON",
    ParallelizationFactor: 1,
    FunctionResponseTypes: ["ReportBatchItemFailures"],
    BisectBatchOnFunctionError: true,
    MaximumRetryAttempts: -1,
    MaximumRecordAgeInSeconds: 43_200,
    DestinationConfig: {
      OnFailure: { Destination: { "Fn::GetAtt": [failures.id, "Arn"] } },
    },
  });
  expect(failures.properties).toEqual({ MessageRetentionPeriod: 14 * 24 * 60 * 60 });
});

test.each([
  ["LEAD#a", "INSERT", true, true],
  ["LEAD#a", "MODIFY", true, false],
  ["CONVERSATION#a", "MODIFY", true, false],
  ["MESSAGE#a#c", "INSERT", false, true],
  ["ERASED#a", "INSERT", false, true],
  // The writes of maintain-counts itself would call it endlessly.
  ["COUNT#a#LEAD", "INSERT", false, false],
  ["A-LEAD#a", "INSERT", false, false],
])("Each reader receives only the records that its filters accept: %s %s", (pk, eventName, counted, published) => {
  const record = { eventName, dynamodb: { Keys: { pk: { S: pk }, sk: { S: "x" } } } };
  const readers = local.eventSources.map((source) => [source.function.label, source.accepts(record)]);
  // DynamoDB recommends at most two readers of a stream.
  expect(Object.fromEntries(readers)).toEqual({ "maintain-counts": counted, "publish-events": published });
});

test("The bus archives the events of this service for eventArchiveDays, and has no archive without the setting", async () => {
  template.resourceCountIs("AWS::Events::Archive", 0);
  const { template: archiving } = await synthesize("prod", { eventArchiveDays: 7 });
  const { properties } = only(archiving, "AWS::Events::Archive");
  // Some regions refuse an empty key.
  expect(properties).not.toHaveProperty("KmsKeyIdentifier");
  expect(properties).toMatchObject({
    ArchiveName: "leads-and-conversations-prod",
    SourceArn: { "Fn::GetAtt": [only(template, "AWS::Events::EventBus").id, "Arn"] },
    EventPattern: { source: ["leads-and-conversations"] },
    RetentionDays: 7,
  });
});
