import { describe, expect, test } from "vitest";
import { type FunctionName, functionNames } from "../../../lib/bundling/bundle.ts";
import { indexes } from "../../../shared/dynamodb/keys.ts";
import { only, synthesize } from "../../support/synthesize.ts";
import { evaluateAlarm, type Series } from "./support/alarm-evaluation.ts";
import { metricKey, readAlarms, readMetrics } from "./support/alarms.ts";
import type { Datapoint } from "./support/metric-math.ts";

const stackName = "leads-and-conversations-prod";
const { template, functions } = await synthesize("prod");
const alarms = readAlarms(template);

const [minute, fiveMinutes] = [60, 300];

const apiStage = { ApiId: { Ref: only(template, "AWS::ApiGatewayV2::Api").id }, Stage: "$default" };
const requests = metricKey("AWS/ApiGateway", "Count", apiStage, "Sum", fiveMinutes);
const serverErrors = metricKey("AWS/ApiGateway", "5xx", apiStage, "Sum", fiveMinutes);
const latency = metricKey("AWS/ApiGateway", "Latency", apiStage, "p99", fiveMinutes);
const gatewayThrottles = metricKey(stackName, "ThrottledRequests", {}, "Sum", minute);

function functionMetric(fn: FunctionName, name: string, statistic: string, seconds: number): string {
  const [id] = [...functions].find(([, candidate]) => candidate === fn) ?? [];
  return metricKey("AWS/Lambda", name, { FunctionName: { Ref: id } }, statistic, seconds);
}

const authorizerErrors = functionMetric("authorize", "Errors", "Sum", fiveMinutes);
const streamAge = functionMetric("maintain-counts", "IteratorAge", "Maximum", minute);
const stalledRebuilds = metricKey(stackName, "StalledRebuilds", {}, "Sum", fiveMinutes);
const functionThrottles = functionNames.map((name) => functionMetric(name, "Throttles", "Sum", minute));

const TableName = { Ref: only(template, "AWS::DynamoDB::Table").id };
const tableThrottles = (kind: "Read" | "Write") =>
  [{}, ...Object.keys(indexes).map((name) => ({ GlobalSecondaryIndexName: name }))].map((index) =>
    metricKey("AWS/DynamoDB", `${kind}ThrottleEvents`, { TableName, ...index }, "Sum", minute),
  );

const pipeFailures = ["Failed", "PartiallyFailed", "Throttled", "Timeout"].map((outcome) =>
  metricKey("AWS/EventBridge/Pipes", `Execution${outcome}`, { PipeName: stackName }, "Sum", minute),
);

function queuedBatches(construct: string): string {
  const QueueName = { "Fn::GetAtt": [only(template, "AWS::SQS::Queue", construct).id, "QueueName"] };
  return metricKey("AWS/SQS", "ApproximateNumberOfMessagesVisible", { QueueName }, "Maximum", minute);
}

type Cases = Readonly<Record<string, Series>>;

interface Behavior {
  /** Series that raise the alarm with their last values. */
  readonly raisedBy: Cases;
  readonly notRaisedBy: Cases;
  /** Series that raise the alarm and clear it with their last values. */
  readonly clearedBy: Cases;
}

const failures = (count: number[], of: number[]): Series => [
  [serverErrors, ...count],
  [requests, ...of],
];

const latencies = (milliseconds: number[], of: number[]): Series => [
  [latency, ...milliseconds],
  [requests, ...of],
];

/** No data. */
const no: Datapoint = undefined;

/** A metric that must reach a value once. */
const once = (metric: string, value: number): Behavior => ({
  raisedBy: { [`${value}`]: [[metric, 0, value]], more: [[metric, 0, 10 * value]] },
  notRaisedBy: { "one less": [[metric, value - 1, value - 1]] },
  clearedBy: { "one less in the next period": [[metric, value, value - 1]] },
});

/** A metric that must reach a value in three of five periods. */
function threeOfFive(metric: string, value: number): Behavior {
  const below = value - 1;
  return {
    raisedBy: {
      "three of five values": [[metric, value, below, value, below, value]],
      "three values with gaps": [[metric, value, no, value, no, value]],
    },
    notRaisedBy: {
      "two of five values": [[metric, value, value, below, below, below, value, value]],
      "one less in every period": [[metric, below, below, below, below, below]],
    },
    clearedBy: { "one less in three periods": [[metric, value, value, value, below, below, below]] },
  };
}

/** Metrics of which any must be 1 in three of five periods. */
function anyThreeOfFive(metrics: readonly string[]): Behavior {
  const [first = "", second = ""] = metrics;
  const behavior = threeOfFive(first, 1);
  const each: Cases = Object.fromEntries(metrics.map((metric) => [metric, [[metric, 1, no, 1, no, 1]]]));
  const inTurn: Series = [
    [first, 1, no, no, 1],
    [second, no, no, 1, no],
  ];
  return { ...behavior, raisedBy: { ...behavior.raisedBy, ...each, "two metrics in turn": inTurn } };
}

/** Every alarm with the metric values that raise it, do not raise it, and clear it. */
const behaviors: Readonly<Record<string, Behavior>> = {
  "server-errors": {
    raisedBy: {
      "1 % of the requests": failures([9, 10], [1000, 1000]),
      "five failures of five requests": failures([0, 5], [5, 5]),
    },
    notRaisedBy: {
      "less than 1 %": failures([10], [1001]),
      "four failures of four requests": failures([4], [4]),
    },
    clearedBy: {
      "less than 1 %": failures([10, 10], [1000, 1001]),
      "fewer than five failures": failures([5, 4], [5, 4]),
    },
  },
  "slow-answers": {
    raisedBy: { "one second in three periods": latencies([1000, 1000, 1000], [100, 100, 100]) },
    notRaisedBy: {
      "less than one second": latencies([999, 999, 999], [100, 100, 100]),
      "two of three periods": latencies([1000, 1000, 999, 1000], [100, 100, 100, 100]),
      "fewer than 100 requests": latencies([9000, 9000, 9000], [99, 99, 99]),
    },
    clearedBy: {
      "less than one second": latencies([1000, 1000, 1000, 999], [100, 100, 100, 100]),
      "fewer than 100 requests": latencies([1000, 1000, 1000, 1000], [100, 100, 100, 99]),
    },
  },
  "authorizer-errors": once(authorizerErrors, 5),
  "gateway-throttles": threeOfFive(gatewayThrottles, 1),
  "function-throttles": anyThreeOfFive(functionThrottles),
  "table-read-throttles": anyThreeOfFive(tableThrottles("Read")),
  "table-write-throttles": anyThreeOfFive(tableThrottles("Write")),
  "stream-age": threeOfFive(streamAge, 300_000),
  "failure-queue": once(queuedBatches("Counting"), 1),
  "rebuild-stalled": once(stalledRebuilds, 1),
  "event-pipe-failures": anyThreeOfFive(pipeFailures),
  "event-failure-queue": once(queuedBatches("Events"), 1),
};

test("Every alarm has cases that raise it, do not raise it, and clear it", () => {
  expect(Object.keys(behaviors)).toEqual([...alarms.keys()]);
  for (const cases of Object.values(behaviors).flatMap((behavior) => Object.values<Cases>({ ...behavior }))) {
    expect(Object.keys(cases)).not.toEqual([]);
  }
});

describe.each(Object.entries(behaviors))("%s", (name, { raisedBy, notRaisedBy, clearedBy }) => {
  const alarm = alarms.get(name);
  if (!alarm) throw new Error(`The stack has no alarm ${name}.`);
  const metrics = [...readMetrics(alarm).values()];
  const silence: Datapoint[] = Array(10).fill(no);

  test.each(Object.entries(raisedBy))("is raised by %s", (_, series) => {
    const states = evaluateAlarm(alarm, series);
    expect(states.pop()).toBe("ALARM");
    expect(states).not.toContain("ALARM");
  });

  test.each(Object.entries(notRaisedBy))("is not raised by %s", (_, series) => {
    expect(evaluateAlarm(alarm, series)).not.toContain("ALARM");
  });

  test.each(Object.entries(clearedBy))("is cleared by %s", (_, series) => {
    expect(evaluateAlarm(alarm, series).slice(-2)).toEqual(["ALARM", "OK"]);
  });

  test.each(Object.entries(raisedBy))("is cleared by silence after %s", (_, series) => {
    const followed: Series = series.map(([metric, ...values]) => [metric, ...values, ...silence]);
    expect(evaluateAlarm(alarm, followed).at(-1)).toBe("OK");
  });

  test("is not raised by silence", () => {
    const series: Series = metrics.map((metric) => [metric, ...silence]);
    expect(evaluateAlarm(alarm, series)).not.toContain("ALARM");
  });

  test("reads only metrics that have a case", () => {
    const fed = Object.values(raisedBy).flatMap((series) => series.map(([metric]) => metric));
    expect(new Set(metrics)).toEqual(new Set(fed));
  });
});

test("Each alarm has at most ten metrics, the limit of CloudWatch", () => {
  for (const alarm of alarms.values()) expect(readMetrics(alarm).size).toBeLessThanOrEqual(10);
});
