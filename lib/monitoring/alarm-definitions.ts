import { Duration } from "aws-cdk-lib";
import { type IMetric, MathExpression, Stats } from "aws-cdk-lib/aws-cloudwatch";
import { faultsDuring } from "./alarm-metrics.ts";
import type { MonitoredResources } from "./monitored-resources.ts";

/** What an alarm monitors and when it is raised. */
export interface AlarmDefinition {
  /** One sentence: the fault and whom it affects. */
  readonly meaning: string;
  readonly metric: IMetric;
  /** The lowest value that breaches. */
  readonly threshold: number;
  /** How many of the last periods must breach; by default, the last one. */
  readonly periods?: { readonly breaching: number; readonly of: number };
}

type AlarmDefinitions = Readonly<Record<string, AlarmDefinition>>;

const minute = { period: Duration.minutes(1) };
const fiveMinutes = { period: Duration.minutes(5) };

/**
 * Shorter faults are not worth a notification. All periods must breach: a value between them that does not would clear
 * the alarm when its metrics end.
 */
const persistent = { breaching: 3, of: 3 };

/** Every alarm by its name. `docs/operations.md` explains the thresholds. */
export const alarmDefinitions = (resources: MonitoredResources): AlarmDefinitions => ({
  ...responses(resources),
  ...throttles(resources),
  ...counting(resources),
  ...publishing(resources),
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
    metric: logs.sum("ThrottledRequests").with(minute),
    threshold: 1,
    periods: persistent,
  },
  "function-throttles": {
    meaning:
      "Lambda has no concurrency left for the functions: callers get 5xx, and counts and events are late.",
    metric: faultsDuring(
      api.stage.metricCount({ statistic: Stats.SUM }),
      functions.map(({ lambda }) => lambda.metricThrottles()),
      minute.period,
    ),
    threshold: 1,
    periods: persistent,
  },
  "table-read-throttles": {
    meaning:
      "DynamoDB throttles reads: lists and messages of the busiest accounts are slow or fail with 503.",
    metric: faultsDuring(
      table.metricConsumedReadCapacityUnits({ statistic: Stats.SUM }),
      table.metricThrottleEvents("Read"),
      minute.period,
    ),
    threshold: 1,
    periods: persistent,
  },
  "table-write-throttles": {
    meaning:
      "DynamoDB throttles writes: leads and messages of the busiest accounts are slow or fail with 503.",
    metric: faultsDuring(
      table.metricConsumedWriteCapacityUnits({ statistic: Stats.SUM }),
      table.metricThrottleEvents("Write"),
      minute.period,
    ),
    threshold: 1,
    periods: persistent,
  },
});

/** Counts that are late or wrong. */
const counting = ({ counting, logs }: MonitoredResources): AlarmDefinitions => ({
  "stream-age": {
    meaning: "Changes are counted five minutes late: lists cost more and show operators' changes late.",
    // The age has data only while the function is called, and the polls also when there is nothing to count.
    metric: faultsDuring(
      counting.sourceMetric("PolledEventCount", { statistic: Stats.SUM }),
      [counting.maintainer.lambda.metric("IteratorAge", { statistic: Stats.MAXIMUM })],
      minute.period,
    ),
    threshold: Duration.minutes(5).toMilliseconds(),
    periods: persistent,
  },
  "failure-queue": {
    meaning:
      "A batch of changes is in the failure queue of maintain-counts: totals of the accounts in its log may be wrong until they are rebuilt.",
    metric: counting.failures.metricApproximateNumberOfMessagesVisible({
      statistic: Stats.MAXIMUM,
      ...minute,
    }),
    threshold: 1,
  },
  "rebuild-stalled": {
    meaning:
      "A rebuild of counts has stopped before its end: lists stay exact, but each change of its account is counted twice until the rebuild is continued.",
    metric: logs.sum("StalledRebuilds").with(fiveMinutes),
    threshold: 1,
  },
});

/** Events that are late or not published. */
const publishing = ({ events }: MonitoredResources): AlarmDefinitions => ({
  "event-pipe-failures": {
    meaning:
      "The pipe cannot put events on the bus and retries: messages that callers sent are delivered late.",
    metric: faultsDuring(
      events.metric("EventCount", { statistic: Stats.SUM }),
      ["ExecutionFailed", "ExecutionPartiallyFailed", "ExecutionThrottled", "ExecutionTimeout"].map((name) =>
        events.metric(name, { statistic: Stats.SUM }),
      ),
      minute.period,
    ),
    threshold: 1,
    periods: persistent,
  },
  "event-failure-queue": {
    meaning:
      "A batch of events is in the failure queue of the pipe: messages that callers sent reach no channel until it is published.",
    metric: events.failures.metricApproximateNumberOfMessagesVisible({ statistic: Stats.MAXIMUM, ...minute }),
    threshold: 1,
  },
});
