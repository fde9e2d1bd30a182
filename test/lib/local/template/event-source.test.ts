import { expect, test } from "vitest";
import { UserError } from "../../../../lib/errors.ts";
import { parseStack } from "../../../../lib/local/template/template.ts";
import { createTemplate } from "../support/stack.ts";

const mapping = {
  FunctionName: { Ref: "Probe" },
  EventSourceArn: { "Fn::GetAtt": ["Table", "StreamArn"] },
  StartingPosition: "TRIM_HORIZON",
};

function readSources(changes: object) {
  const { Resources } = createTemplate();
  const Source = { Type: "AWS::Lambda::EventSourceMapping", Properties: { ...mapping, ...changes } };
  const Queue = { Type: "AWS::SQS::Queue", Properties: {} };
  const template = { Resources: { ...Resources, Source, Queue } };
  return parseStack("stack", template, () => ({ directory: "/code", name: "probe" })).eventSources;
}

test("an event source is read from the template", () => {
  const [source, ...others] = readSources({
    BatchSize: 1000,
    MaximumBatchingWindowInSeconds: 1,
    ParallelizationFactor: 10,
    MaximumRetryAttempts: 3,
    MaximumRecordAgeInSeconds: 60,
    BisectBatchOnFunctionError: true,
    FunctionResponseTypes: ["ReportBatchItemFailures"],
    FilterCriteria: { Filters: [{ Pattern: JSON.stringify({ eventName: ["INSERT"] }) }] },
    DestinationConfig: { OnFailure: { Destination: { "Fn::GetAtt": ["Queue", "Arn"] } } },
  });
  expect(others).toEqual([]);
  expect(source).toEqual({
    id: "Source",
    function: expect.objectContaining({ name: "Probe" }),
    streamArn: "arn:aws:dynamodb:local:000000000000:table/probes/stream/local",
    accepts: expect.any(Function),
    batchSize: 1000,
    window: 1000,
    retries: 3,
    maxAge: 60_000,
    bisects: true,
    reportsFailures: true,
    failureQueue: "Queue",
  });
  expect([source?.accepts({ eventName: "INSERT" }), source?.accepts({ eventName: "MODIFY" })]).toEqual([
    true,
    false,
  ]);
});

test("settings that the template omits have Lambda's defaults", () => {
  expect(readSources({})).toMatchObject([
    {
      batchSize: 100,
      window: 0,
      retries: Infinity,
      maxAge: Infinity,
      bisects: false,
      reportsFailures: false,
    },
  ]);
  expect(readSources({ Enabled: false })).toEqual([]);
});

test.each([
  [{ StartingPosition: "LATEST" }, "from TRIM_HORIZON"],
  [{ EventSourceArn: { "Fn::GetAtt": ["Queue", "Arn"] } }, "does not read the stream of the table probes"],
  [{ FunctionName: "elsewhere" }, "feeds elsewhere"],
  [{ TumblingWindowInSeconds: 5 }, "does not support TumblingWindowInSeconds"],
  [{ FilterCriteria: { Filters: [{ Pattern: '{"a":[{"exists":true}]}' }] } }, "cannot evaluate"],
])("%j is rejected with a UserError", (changes, message) => {
  expect(() => readSources(changes)).toThrow(UserError);
  expect(() => readSources(changes)).toThrow(message);
});
