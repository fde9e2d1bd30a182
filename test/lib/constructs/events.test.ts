import { expect, test } from "vitest";
import { only, synthesize } from "../../support/synthesize.ts";

const { template, aliases, functions, local } = await synthesize("prod");
const bus = only(template, "AWS::Events::EventBus");
const arn = (id: string, attribute = "Arn") => ({ "Fn::GetAtt": [id, attribute] });
const queue = only(template, "AWS::SQS::Queue", "Events");
const streamArn = arn(only(template, "AWS::DynamoDB::Table").id, "StreamArn");

test("publish-events reads the table's stream from its beginning, one batch of a shard at a time, which keeps the order", () => {
  const source = only(template, "AWS::Lambda::EventSourceMapping", "Events");
  const { FunctionName, FilterCriteria, ...settings } = source.properties;
  const [publisher] = [...aliases].find(([, name]) => name === "publish-events") ?? [];
  expect(JSON.stringify(FunctionName)).toMatch(new RegExp(`"Ref":"${publisher}".*":live"`));
  expect(settings).toEqual({
    EventSourceArn: streamArn,
    StartingPosition: "TRIM_HORIZON",
    BatchSize: 100,
    ParallelizationFactor: 1,
    FunctionResponseTypes: ["ReportBatchItemFailures"],
    BisectBatchOnFunctionError: true,
    MaximumRetryAttempts: -1,
    MaximumRecordAgeInSeconds: 43_200,
    DestinationConfig: { OnFailure: { Destination: arn(queue.id) } },
  });
});

test("publish-events knows its bus and its failure queue", () => {
  const [id = ""] = [...functions].find(([, name]) => name === "publish-events") ?? [];
  const { Environment } = template.findResources("AWS::Lambda::Function")[id]?.Properties ?? {};
  expect(Environment.Variables).toMatchObject({
    EVENT_BUS_NAME: { Ref: bus.id },
    FAILURES_URL: { Ref: queue.id },
  });
});

test.each([
  ["LEAD#a", "INSERT", true, true],
  ["LEAD#a", "MODIFY", true, false],
  ["CONVERSATION#a", "MODIFY", true, false],
  ["MESSAGE#a#c", "INSERT", false, true],
  ["ERASED#a", "INSERT", false, true],
  // What maintain-counts writes itself would call it without an end.
  ["COUNT#a#LEAD", "INSERT", false, false],
  ["A-LEAD#a", "INSERT", false, false],
])("Each reader takes only the records of its filters: %s %s", (pk, eventName, counted, published) => {
  const record = { eventName, dynamodb: { Keys: { pk: { S: pk }, sk: { S: "x" } } } };
  const readers = local.eventSources.map((source) => [source.function.label, source.accepts(record)]);
  // DynamoDB recommends at most two readers of a stream.
  expect(Object.fromEntries(readers)).toEqual({ "maintain-counts": counted, "publish-events": published });
});

test.each(["Counting", "Events"])("Failed batches of %s are kept for 14 days", (construct) => {
  const { properties } = only(template, "AWS::SQS::Queue", construct);
  expect(properties).toEqual({ MessageRetentionPeriod: 14 * 24 * 60 * 60 });
});

test("publish-events may only read the stream, put events on its bus and send to its failure queue", () => {
  const role = only(template, "AWS::IAM::Role", "publishevents");
  const statements = role.properties.Policies.flatMap(
    (policy: { PolicyDocument: { Statement: object[] } }) => policy.PolicyDocument.Statement,
  );
  expect(statements).toEqual([
    { Effect: "Allow", Action: "events:PutEvents", Resource: arn(bus.id) },
    {
      Effect: "Allow",
      Action: [
        "dynamodb:DescribeStream",
        "dynamodb:GetRecords",
        "dynamodb:GetShardIterator",
        "dynamodb:ListStreams",
      ],
      Resource: streamArn,
    },
    { Effect: "Allow", Action: "sqs:SendMessage", Resource: arn(queue.id) },
    expect.objectContaining({ Action: ["logs:CreateLogStream", "logs:PutLogEvents"] }),
  ]);
});

test("The bus keeps the events of this service for as many days as the stage says, and none without", async () => {
  template.resourceCountIs("AWS::Events::Archive", 0);
  const { template: archiving } = await synthesize("prod", { eventArchiveDays: 7 });
  const { properties } = only(archiving, "AWS::Events::Archive");
  expect(properties).toMatchObject({
    ArchiveName: "leads-and-conversations-prod",
    SourceArn: arn(bus.id),
    EventPattern: { source: ["leads-and-conversations"] },
    RetentionDays: 7,
  });
});
