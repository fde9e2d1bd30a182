import { expect, test } from "vitest";
import { only, synthesize } from "../../support/synthesize.ts";

const { template, aliases, local } = await synthesize("prod");
const pipe = only(template, "AWS::Pipes::Pipe");
const bus = only(template, "AWS::Events::EventBus");
const role = only(template, "AWS::IAM::Role", "EventsRole");
const logs = only(template, "AWS::Logs::LogGroup", "EventsLogs");
const arn = (id: string, attribute = "Arn") => ({ "Fn::GetAtt": [id, attribute] });
const [composer] = [...aliases].find(([, name]) => name === "compose-events") ?? [];
const streamArn = arn(only(template, "AWS::DynamoDB::Table").id, "StreamArn");
const queueArn = arn(only(template, "AWS::SQS::Queue", "Events").id);

test("One pipe passes new leads, conversations and messages, and erased leads, through compose-events to the bus", () => {
  const { SourceParameters, LogConfiguration, ...properties } = pipe.properties;
  expect(properties).toEqual({
    Name: "leads-and-conversations-prod",
    RoleArn: arn(role.id),
    Source: streamArn,
    Enrichment: { Ref: composer },
    Target: arn(bus.id),
    TargetParameters: {
      EventBridgeEventBusParameters: { Source: "leads-and-conversations", DetailType: "$.type" },
    },
  });
  expect(SourceParameters.DynamoDBStreamParameters).toEqual({
    StartingPosition: "TRIM_HORIZON",
    BatchSize: 10,
    ParallelizationFactor: 5,
    OnPartialBatchItemFailure: "AUTOMATIC_BISECT",
    MaximumRetryAttempts: -1,
    MaximumRecordAgeInSeconds: 43_200,
    DeadLetterConfig: { Arn: queueArn },
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
])("Counting and the pipe take only the records of their filters: %s %s", (pk, eventName, counted, piped) => {
  const record = { eventName, dynamodb: { Keys: { pk: { S: pk }, sk: { S: "x" } } } };
  const readers = [...local.eventSources, ...local.pipes];
  // DynamoDB recommends at most two readers of a stream.
  expect(readers.length).toBeLessThanOrEqual(2);
  expect(readers.map(({ accepts }) => accepts(record))).toEqual([counted, piped]);
});

test.each(["Counting", "Events"])("Failed batches of %s are kept for 14 days", (construct) => {
  const { properties } = only(template, "AWS::SQS::Queue", construct);
  expect(properties).toEqual({ MessageRetentionPeriod: 14 * 24 * 60 * 60 });
});

test("The pipe may only read the stream, call its function, put events on its bus and send failed batches", () => {
  const [policy, ...others] = role.properties.Policies;
  expect(others).toEqual([]);
  expect(policy.PolicyDocument.Statement).toEqual([
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
    {
      Effect: "Allow",
      Action: "lambda:InvokeFunction",
      Resource: [arn(expect.stringMatching(/^composeeventsFunction/)), { Ref: composer }],
    },
    { Effect: "Allow", Action: "events:PutEvents", Resource: arn(bus.id) },
    { Effect: "Allow", Action: "sqs:SendMessage", Resource: queueArn },
  ]);
  expect(role.properties.ManagedPolicyArns).toBeUndefined();
  expect(JSON.stringify(template.findResources("AWS::IAM::Policy"))).not.toContain(role.id);
});

test("Only this pipe may assume its role", () => {
  expect(role.properties.AssumeRolePolicyDocument.Statement).toEqual([
    {
      Effect: "Allow",
      Action: "sts:AssumeRole",
      Principal: { Service: "pipes.amazonaws.com" },
      Condition: {
        StringEquals: {
          "aws:SourceAccount": { Ref: "AWS::AccountId" },
          "aws:SourceArn": {
            "Fn::Join": [
              "",
              [
                "arn:",
                { Ref: "AWS::Partition" },
                ":pipes:",
                { Ref: "AWS::Region" },
                ":",
                { Ref: "AWS::AccountId" },
                ":pipe/leads-and-conversations-prod",
              ],
            ],
          },
        },
      },
    },
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

test("The pipe logs errors without the data of events", () => {
  expect(pipe.properties.LogConfiguration).toEqual({
    CloudwatchLogsLogDestination: { LogGroupArn: arn(logs.id) },
    Level: "ERROR",
  });
  expect(logs.properties).toEqual({
    LogGroupName: "/aws/vendedlogs/pipes/leads-and-conversations-prod",
    RetentionInDays: 90,
  });
});
