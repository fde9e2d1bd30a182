import { describe, expect, test } from "vitest";
import { indexes } from "../../../shared/dynamodb/keys.ts";
import { only, synthesize } from "../../support/synthesize.ts";
import { alarmsOf } from "./support/alarms.ts";

const { template, functions } = await synthesize("prod");
const alarms = alarmsOf(template);
const names = [...alarms.keys()];

const of = (name: string) => alarms.get(name);

const functionDimension = (name: string) => {
  const [id] = [...functions].find(([, known]) => known === name) ?? [];
  return [{ Name: "FunctionName", Value: { Ref: id } }];
};
const apiDimensions = [
  { Name: "ApiId", Value: { Ref: only(template, "AWS::ApiGatewayV2::Api").id } },
  { Name: "Stage", Value: "$default" },
];

/** A metric of an expression, as the template has it. */
const input = (namespace: string, name: string, dimensions: unknown, period: number, stat = "Sum") => ({
  Id: expect.any(String),
  ReturnData: false,
  MetricStat: {
    Metric: { Namespace: namespace, MetricName: name, Dimensions: dimensions },
    Period: period,
    Stat: stat,
  },
});

const inputsOf = (name: string) =>
  of(name)
    .Metrics.slice(1)
    .map(({ Label, ...metric }: { Label?: string }) => metric);

const oneOfOne = { DatapointsToAlarm: 1, EvaluationPeriods: 1 };
const threeOfFive = { DatapointsToAlarm: 3, EvaluationPeriods: 5 };

test("These are the alarms, and no others", () => {
  expect(names).toEqual([
    "server-errors",
    "slow-answers",
    "authorizer-errors",
    "gateway-throttles",
    "function-throttles",
    "table-read-throttles",
    "table-write-throttles",
    "stream-age",
    "failure-queue",
    "event-pipe-failures",
    "event-failure-queue",
  ]);
});

test("Every alarm is raised by too much, and never by silence", () => {
  for (const alarm of alarms.values()) {
    expect(alarm).toMatchObject({
      ComparisonOperator: "GreaterThanOrEqualToThreshold",
      TreatMissingData: "notBreaching",
    });
  }
});

describe("what raises the alarm", () => {
  test("server-errors: 1 % of the requests of five minutes, and no fewer than five", () => {
    expect(of("server-errors")).toMatchObject({ Threshold: 1, ...oneOfOne });
    expect(of("server-errors").Metrics[0]).toMatchObject({
      Expression: "IF(errors >= 5, 100 * errors / requests, 0)",
      ReturnData: true,
    });
    expect(inputsOf("server-errors")).toEqual([
      { ...input("AWS/ApiGateway", "5xx", apiDimensions, 300), Id: "errors" },
      { ...input("AWS/ApiGateway", "Count", apiDimensions, 300), Id: "requests" },
    ]);
  });

  test("slow-answers: a p99 of a second for a quarter of an hour, of no fewer than 100 requests", () => {
    expect(of("slow-answers")).toMatchObject({ Threshold: 1000, DatapointsToAlarm: 3, EvaluationPeriods: 3 });
    expect(of("slow-answers").Metrics[0]).toMatchObject({
      Expression: "IF(requests >= 100, latency, 0)",
      ReturnData: true,
    });
    expect(inputsOf("slow-answers")).toEqual([
      { ...input("AWS/ApiGateway", "Latency", apiDimensions, 300, "p99"), Id: "latency" },
      { ...input("AWS/ApiGateway", "Count", apiDimensions, 300), Id: "requests" },
    ]);
  });

  test("authorizer-errors: five errors of the authorizer in five minutes", () => {
    expect(of("authorizer-errors")).toMatchObject({
      Namespace: "AWS/Lambda",
      MetricName: "Errors",
      Dimensions: functionDimension("authorize"),
      Statistic: "Sum",
      Period: 300,
      Threshold: 5,
      ...oneOfOne,
    });
  });

  test("gateway-throttles: a request that the gateway throttled, in three of five minutes", () => {
    expect(of("gateway-throttles")).toMatchObject({
      Namespace: "leads-and-conversations-prod",
      MetricName: "ThrottledRequests",
      Statistic: "Sum",
      Period: 60,
      Threshold: 1,
      ...threeOfFive,
    });
  });

  test("function-throttles: a throttle of any function, in three of five minutes", () => {
    expect(of("function-throttles")).toMatchObject({ Threshold: 1, ...threeOfFive });
    expect(of("function-throttles").Metrics[0].Expression).toBe("SUM(FILL(METRICS(), 0))");
    const throttles = [...functions.values()].map((name) =>
      input("AWS/Lambda", "Throttles", functionDimension(name), 60),
    );
    expect(inputsOf("function-throttles")).toHaveLength(throttles.length);
    expect(inputsOf("function-throttles")).toEqual(expect.arrayContaining(throttles));
  });

  test.each([
    "Read",
    "Write",
  ])("table-%s-throttles: one of the table or of any index, in three of five minutes", (kind) => {
    const name = `table-${kind.toLowerCase()}-throttles`;
    const tableName = { Name: "TableName", Value: { Ref: only(template, "AWS::DynamoDB::Table").id } };
    expect(of(name)).toMatchObject({ Threshold: 1, ...threeOfFive });
    expect(of(name).Metrics[0].Expression).toBe("SUM(FILL(METRICS(), 0))");
    expect(inputsOf(name)).toEqual(
      [
        [tableName],
        ...Object.keys(indexes).map((index) => [
          { Name: "GlobalSecondaryIndexName", Value: index },
          tableName,
        ]),
      ].map((dimensions) => input("AWS/DynamoDB", `${kind}ThrottleEvents`, dimensions, 60)),
    );
  });

  test("stream-age: a change that is five minutes old when it is counted, in three of five minutes", () => {
    expect(of("stream-age")).toMatchObject({
      Namespace: "AWS/Lambda",
      MetricName: "IteratorAge",
      Dimensions: functionDimension("maintain-counts"),
      Statistic: "Maximum",
      Period: 60,
      Threshold: 300_000,
      ...threeOfFive,
    });
  });

  test("event-pipe-failures: a batch of events that failed, in three of five minutes", () => {
    expect(of("event-pipe-failures")).toMatchObject({ Threshold: 1, ...threeOfFive });
    expect(of("event-pipe-failures").Metrics[0].Expression).toBe("SUM(FILL(METRICS(), 0))");
    const pipe = [{ Name: "PipeName", Value: "leads-and-conversations-prod" }];
    expect(inputsOf("event-pipe-failures")).toEqual(
      ["ExecutionFailed", "ExecutionPartiallyFailed", "ExecutionThrottled", "ExecutionTimeout"].map(
        (metric) => input("AWS/EventBridge/Pipes", metric, pipe, 60),
      ),
    );
  });

  test.each([
    ["failure-queue", "Counting"],
    ["event-failure-queue", "Events"],
  ])("%s: one batch in the queue of %s", (name, construct) => {
    const queue = only(template, "AWS::SQS::Queue", construct).id;
    expect(of(name)).toMatchObject({
      Namespace: "AWS/SQS",
      MetricName: "ApproximateNumberOfMessagesVisible",
      Dimensions: [{ Name: "QueueName", Value: { "Fn::GetAtt": [queue, "QueueName"] } }],
      Statistic: "Maximum",
      Period: 60,
      Threshold: 1,
      ...oneOfOne,
    });
  });
});

test("CloudWatch takes ten metrics in an alarm's expression, and no more", () => {
  for (const { Metrics = [] } of alarms.values()) expect(Metrics.length - 1).toBeLessThanOrEqual(10);
});
