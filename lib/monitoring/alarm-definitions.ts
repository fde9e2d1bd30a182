import { MathExpression, Stats } from "aws-cdk-lib/aws-cloudwatch";
import { accessAlarms } from "./access-alarms.ts";
import { type AlarmDefinitions, fiveMinutes, minute, persistent } from "./alarm-definition.ts";
import { faultsDuring, sumOf } from "./alarm-metrics.ts";
import type { MonitoredResources } from "./monitored-resources.ts";
import { counting, publishing } from "./stream-alarms.ts";

/** Every alarm by its name. `docs/operations.md` explains the thresholds. */
export const alarmDefinitions = (resources: MonitoredResources): AlarmDefinitions => ({
  ...responses(resources),
  ...accessAlarms(resources),
  ...throttles(resources),
  ...counting(resources),
  ...publishing(resources),
  ...releases(resources),
});

/** Status and latency of responses. */
const responses = ({ api: { stage, authorizer } }: MonitoredResources): AlarmDefinitions => ({
  "server-errors": {
    meaning: "At least 1 % of the requests fail with 5xx: callers cannot read or write and must retry.",
    // With few requests, a few failures are a large percentage.
    metric: new MathExpression({
      expression: "IF(errors + 0 * requests >= 5, 100 * errors / requests, 0)",
      usingMetrics: {
        errors: stage.metricServerError({ statistic: Stats.SUM }),
        requests: stage.metricCount({ statistic: Stats.SUM }),
      },
      label: "Percentage of requests with a 5xx response",
      ...fiveMinutes,
    }),
    threshold: 1,
    rollsBack: true,
  },
  "slow-answers": {
    meaning: "The p99 latency is at least one second: callers wait, and some time out.",
    // The p99 of fewer requests is the latency of a cold start.
    metric: new MathExpression({
      expression: "IF(requests >= 100, latency, 0)",
      usingMetrics: {
        latency: stage.metricLatency({ statistic: Stats.p(99) }),
        requests: stage.metricCount({ statistic: Stats.SUM }),
      },
      label: "p99 latency in ms",
      ...fiveMinutes,
    }),
    threshold: 1000,
    periods: { breaching: 3, of: 3 },
    rollsBack: true,
  },
  "authorizer-errors": {
    meaning:
      "The authorizer fails: callers with valid keys get 500 on every route when cached results expire.",
    metric: faultsDuring(
      authorizer.lambda.metricInvocations(),
      [authorizer.lambda.metricErrors()],
      fiveMinutes.period,
    ),
    threshold: 5,
  },
});

/** Requests, invocations, reads and writes over a limit. */
const throttles = ({ api, table, functions, logs }: MonitoredResources): AlarmDefinitions => ({
  "gateway-throttles": {
    meaning: "All accounts together exceed the stage's throttle: the gateway returns 429 to any of them.",
    metric: logs.sum("ThrottledRequests").with(fiveMinutes),
    threshold: 1,
    periods: persistent,
  },
  "function-throttles": {
    meaning:
      "Lambda has no concurrency left for the functions: callers get 5xx, and counts and events are late.",
    metric: faultsDuring(
      api.stage.metricCount({ statistic: Stats.SUM }),
      functions.map(({ lambda }) => lambda.metricThrottles()),
      fiveMinutes.period,
    ),
    threshold: 1,
    periods: persistent,
  },
  "table-read-throttles": {
    meaning: "DynamoDB throttles reads: lists and messages of the busiest accounts are slow or are refused.",
    metric: faultsDuring(
      table.metricConsumedReadCapacityUnits({ statistic: Stats.SUM }),
      table.metricThrottleEvents("Read"),
      fiveMinutes.period,
    ),
    threshold: 1,
    periods: persistent,
  },
  "table-write-throttles": {
    meaning: "DynamoDB throttles writes: leads and messages of the busiest accounts are slow or are refused.",
    metric: faultsDuring(
      table.metricConsumedWriteCapacityUnits({ statistic: Stats.SUM }),
      table.metricThrottleEvents("Write"),
      fiveMinutes.period,
    ),
    threshold: 1,
    periods: persistent,
  },
});

/** Faults of the versions that requests shift to. */
const releases = ({ deployment }: MonitoredResources): AlarmDefinitions =>
  deployment
    ? {
        "new-version-errors": {
          meaning: "A new version of a function crashes or times out: its requests fail with 5xx.",
          metric: sumOf(deployment.metricErrors(), minute.period),
          threshold: 1,
          rollsBack: true,
          // When requests no longer shift, the version has none, or is the only one.
          overWithoutData: true,
        },
      }
    : {};
