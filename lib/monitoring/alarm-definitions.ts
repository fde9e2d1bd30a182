import { Duration } from "aws-cdk-lib";
import type { HttpStage } from "aws-cdk-lib/aws-apigatewayv2";
import { type IMetric, MathExpression, type Metric, Stats } from "aws-cdk-lib/aws-cloudwatch";
import type { Table } from "aws-cdk-lib/aws-dynamodb";
import type { IFunction, Function as LambdaFunction } from "aws-cdk-lib/aws-lambda";
import type { IQueue } from "aws-cdk-lib/aws-sqs";
import type { FunctionName } from "../bundling/bundle.ts";
import type { EventPipe } from "../constructs/event-pipe.ts";
import type { RequestMetrics } from "./request-metrics.ts";
import { throttleEvents } from "./table-metrics.ts";

/** What is resources, of the whole service. */
export interface MonitoredResources {
  readonly table: Table;
  readonly apiStage: HttpStage;
  readonly functions: ReadonlyMap<FunctionName, LambdaFunction>;
  readonly authorizer: IFunction;
  readonly maintainer: IFunction;
  readonly failures: IQueue;
  readonly events: EventPipe;
  readonly requests: RequestMetrics;
}

/** When to call someone. */
export interface AlarmDefinition {
  /** What is wrong and for whom, in a sentence. */
  readonly meaning: string;
  readonly metric: IMetric;
  /** The value that is too much. */
  readonly threshold: number;
  /** In how many of the last so many periods; in the last one unless given. */
  readonly periods?: { readonly reached: number; readonly of: number };
}

const minute = { period: Duration.minutes(1) };
const fiveMinutes = { period: Duration.minutes(5) };

/** What clears up by itself is not worth waking anyone. */
const lasting = { reached: 3, of: 5 };

/** Every alarm, by its name. Thresholds are explained in `docs/operations.md`. */
export const alarmDefinitions = (
  resources: MonitoredResources,
): Readonly<Record<string, AlarmDefinition>> => ({
  ...responses(resources),
  ...throttles(resources),
  ...counting(resources),
  ...publishing(resources),
});

/** What callers are answered, and how soon. */
const responses = ({ apiStage, authorizer }: MonitoredResources): Record<string, AlarmDefinition> => ({
  "server-errors": {
    meaning:
      "One request in a hundred or more fails with a 5xx: callers cannot read or write and have to try again.",
    // A few failures in the quiet of the night are a large part of a few requests.
    metric: new MathExpression({
      expression: "IF(errors >= 5, 100 * errors / requests, 0)",
      usingMetrics: {
        errors: apiStage.metricServerError({ statistic: Stats.SUM }),
        requests: apiStage.metricCount({ statistic: Stats.SUM }),
      },
      label: "Percent of requests answered 5xx",
      ...fiveMinutes,
    }),
    threshold: 1,
  },
  "slow-answers": {
    meaning: "One request in a hundred takes a second or longer: callers wait, and some will give up.",
    // Of fewer requests than that, the slowest hundredth is a cold start.
    metric: new MathExpression({
      expression: "IF(requests >= 100, latency, 0)",
      usingMetrics: {
        latency: apiStage.metricLatency({ statistic: Stats.p(99) }),
        requests: apiStage.metricCount({ statistic: Stats.SUM }),
      },
      label: "p99 of the latency, in ms",
      ...fiveMinutes,
    }),
    threshold: 1000,
    periods: { reached: 3, of: 3 },
  },
  "authorizer-errors": {
    meaning:
      "The authorizer fails: callers with good keys are answered 500 on every route once its cache is out.",
    metric: authorizer.metricErrors(fiveMinutes),
    threshold: 5,
  },
});

/** Where there is too much to do. */
const throttles = ({ table, functions, requests }: MonitoredResources): Record<string, AlarmDefinition> => ({
  "gateway-throttles": {
    meaning: "All accounts together exceed the stage's throttle: the gateway answers any of them 429.",
    metric: requests.sum("ThrottledRequests").with(minute),
    threshold: 1,
    periods: lasting,
  },
  "function-throttles": {
    meaning:
      "Lambda has no concurrency left for the functions: callers are answered 5xx, and counts and events are late.",
    metric: sumMetrics([...functions.values()].map((fn) => fn.metricThrottles())),
    threshold: 1,
    periods: lasting,
  },
  "table-read-throttles": {
    meaning:
      "DynamoDB turns reads away: lists and messages of the busiest accounts are slow or answered 503.",
    metric: sumMetrics(throttleEvents(table, "Read")),
    threshold: 1,
    periods: lasting,
  },
  "table-write-throttles": {
    meaning:
      "DynamoDB turns writes away: leads and messages of the busiest accounts are slow or answered 503.",
    metric: sumMetrics(throttleEvents(table, "Write")),
    threshold: 1,
    periods: lasting,
  },
});

/** Whether the counts of the lists follow the table. */
const counting = ({ maintainer, failures }: MonitoredResources): Record<string, AlarmDefinition> => ({
  "stream-age": {
    meaning:
      "Changes are counted over five minutes late: lists cost more, and show what operators changed too late.",
    metric: maintainer.metric("IteratorAge", { statistic: Stats.MAXIMUM, ...minute }),
    threshold: Duration.minutes(5).toMilliseconds(),
    periods: lasting,
  },
  "failure-queue": {
    meaning:
      "maintain-counts gave up a batch of the table's stream: totals of the accounts in its log may be wrong until they are rebuilt.",
    metric: failures.metricApproximateNumberOfMessagesVisible({ statistic: Stats.MAXIMUM, ...minute }),
    threshold: 1,
  },
});

/** Whether events of what is new reach their bus. */
const publishing = ({ events }: MonitoredResources): Record<string, AlarmDefinition> => ({
  "event-pipe-failures": {
    meaning:
      "The pipe cannot put events on the bus and tries again: messages that callers sent are delivered late.",
    metric: sumMetrics(
      ["ExecutionFailed", "ExecutionPartiallyFailed", "ExecutionThrottled", "ExecutionTimeout"].map((name) =>
        events.metric(name, { statistic: Stats.SUM }),
      ),
    ),
    threshold: 1,
    periods: lasting,
  },
  "event-failure-queue": {
    meaning:
      "The pipe gave up events: messages that callers sent reach no channel until they are published again.",
    metric: events.failures.metricApproximateNumberOfMessagesVisible({
      statistic: Stats.MAXIMUM,
      ...minute,
    }),
    threshold: 1,
  },
});

/** The sum of metrics that are silent when nothing happens. */
const sumMetrics = (metrics: readonly Metric[]): MathExpression =>
  new MathExpression({
    expression: "SUM(FILL(METRICS(), 0))",
    usingMetrics: Object.fromEntries(metrics.map((metric, index) => [`m${index}`, metric])),
    ...minute,
  });
