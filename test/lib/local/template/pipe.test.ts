import { expect, test } from "vitest";
import { UserError } from "../../../../lib/errors.ts";
import { parseStack } from "../../../../lib/local/template/template.ts";
import { createTemplate } from "../support/stack.ts";

const busParameters = { Source: "probes", DetailType: "$.type" };
const properties = {
  Name: "probes",
  RoleArn: { "Fn::GetAtt": ["Role", "Arn"] },
  Source: { "Fn::GetAtt": ["Table", "StreamArn"] },
  Enrichment: { "Fn::GetAtt": ["Probe", "Arn"] },
  Target: { "Fn::GetAtt": ["Bus", "Arn"] },
  TargetParameters: { EventBridgeEventBusParameters: busParameters },
  LogConfiguration: { CloudwatchLogsLogDestination: { LogGroupArn: { "Fn::GetAtt": ["Logs", "Arn"] } } },
};

function readPipes(stream: object, changes: object = {}, FilterCriteria: object = {}) {
  const DynamoDBStreamParameters = { StartingPosition: "TRIM_HORIZON", ...stream };
  const SourceParameters = { DynamoDBStreamParameters, FilterCriteria };
  const template = {
    Resources: {
      ...createTemplate().Resources,
      Pipe: { Type: "AWS::Pipes::Pipe", Properties: { ...properties, SourceParameters, ...changes } },
      Bus: { Type: "AWS::Events::EventBus", Properties: { Name: "probes" } },
      Queue: { Type: "AWS::SQS::Queue", Properties: {} },
    },
  };
  return parseStack("stack", template, () => ({ directory: "/code", name: "probe" })).pipes;
}

test("a pipe is read from the template", () => {
  const [pipe, ...others] = readPipes(
    {
      ...{ BatchSize: 10, MaximumBatchingWindowInSeconds: 2, ParallelizationFactor: 5 },
      ...{ OnPartialBatchItemFailure: "AUTOMATIC_BISECT", MaximumRetryAttempts: 185 },
      ...{ MaximumRecordAgeInSeconds: 86_400, DeadLetterConfig: { Arn: { "Fn::GetAtt": ["Queue", "Arn"] } } },
    },
    {},
    { Filters: [{ Pattern: JSON.stringify({ eventName: ["INSERT"] }) }] },
  );
  expect(others).toEqual([]);
  expect(pipe).toEqual({
    id: "Pipe",
    function: expect.objectContaining({ name: "Probe" }),
    streamArn: "arn:aws:dynamodb:local:000000000000:table/probes/stream/local",
    accepts: expect.any(Function),
    ...{
      batchSize: 10,
      window: 2000,
      retries: 185,
      maxAge: 86_400_000,
      bisects: true,
      reportsFailures: false,
    },
    failureQueue: "Queue",
    bus: { source: "probes", typeField: "type" },
  });
  expect(pipe?.accepts({ eventName: "INSERT" })).toBe(true);
  expect(pipe?.accepts({ eventName: "MODIFY" })).toBe(false);
});

test("settings that the template omits have EventBridge's defaults", () => {
  expect(readPipes({})).toMatchObject([
    { batchSize: 100, window: 0, retries: Infinity, maxAge: Infinity, bisects: false },
  ]);
});

const toBus = (parameters: object) => ({
  TargetParameters: { EventBridgeEventBusParameters: { ...busParameters, ...parameters } },
});

test.each([
  ["another start", { StartingPosition: "LATEST" }, {}, "from TRIM_HORIZON"],
  ["another source", {}, { Source: { "Fn::GetAtt": ["Queue", "Arn"] } }, "does not read the stream"],
  ["no enrichment", {}, { Enrichment: undefined }, "is enriched by undefined"],
  ["another enrichment", {}, { Enrichment: "arn:elsewhere" }, "is enriched by arn:elsewhere"],
  ["another target", {}, { Target: { "Fn::GetAtt": ["Queue", "Arn"] } }, "must have an event bus"],
  ["a fixed type", {}, toBus({ DetailType: "probe" }), "must have an event bus"],
  ["a deep path", {}, toBus({ DetailType: "$.a.b" }), "must have an event bus"],
  ["a source by path", {}, toBus({ Source: "$.source" }), "must have an event bus"],
  ["a time", {}, toBus({ Time: "$.createdAt" }), "does not support Time"],
  ["a template", {}, { TargetParameters: { InputTemplate: "{}" } }, "does not support InputTemplate"],
  ["a stopped pipe", {}, { DesiredState: "STOPPED" }, "does not support DesiredState"],
  ["an unknown setting", { Colour: "red" }, {}, "does not support Colour"],
])("%s is rejected with a UserError", (_, stream, changes, message) => {
  expect(() => readPipes(stream, changes)).toThrow(UserError);
  expect(() => readPipes(stream, changes)).toThrow(message);
});
