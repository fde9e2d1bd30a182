import { Duration } from "aws-cdk-lib";
import { MathExpression, Stats } from "aws-cdk-lib/aws-cloudwatch";
import { faultsDuring, fiveMinutes, total, undone } from "./alarm-metrics.ts";
import type { LogMetrics } from "./log-metrics.ts";
import type { MonitoredFaults, MonitoredResources } from "./monitored-resources.ts";

/** What callers wrote: each write is a record of the stream, for counting and for the pipe. */
const written = (logs: LogMetrics) => [logs.sum("LeadsCreated"), logs.sum("MessagesSent")];

/** Counts that are late or wrong. */
export const countingAlarms = ({ counting, logs }: MonitoredResources): MonitoredFaults => ({
  "stream-age": {
    meaning: "Changes are counted five minutes late: lists cost more and show operators' changes late.",
    // The age has data only while the function is called, and the polls also when there is nothing to count.
    metric: faultsDuring(
      counting.sourceMetric("PolledEventCount", total),
      [counting.maintainer.lambda.metric("IteratorAge", { statistic: Stats.MAXIMUM })],
      fiveMinutes.period,
    ),
  },
  "counting-stopped": {
    meaning:
      "Leads or messages were written and nothing counts them: lists cost more every minute, and show operators' changes late.",
    metric: undone(
      {
        given: written(logs),
        signs: [
          counting.sourceMetric("InvokedEventCount", total),
          counting.maintainer.lambda.metric("IteratorAge", { statistic: Stats.SAMPLE_COUNT }),
        ],
      },
      fiveMinutes.period,
    ),
  },
  "failure-queue": {
    meaning:
      "A batch of changes is in the failure queue of maintain-counts: totals of the accounts in its log may be wrong until they are repaired.",
    metric: counting.failures.metricApproximateNumberOfMessagesVisible({
      statistic: Stats.MAXIMUM,
      ...fiveMinutes,
    }),
  },
  "late-writes": {
    meaning:
      "Leads or conversations were written late after their ids, nearly so late that totals are short of them until the stream delivers them.",
    metric: logs.sum("LateWrites").with(fiveMinutes),
  },
  "counts-damaged": {
    meaning:
      "Stored counts were damaged, or differed from the rows and were corrected: lists of the account in the log may have returned 503 or wrong totals.",
    metric: logs.sum("DamagedCounts").with(fiveMinutes),
  },
  "audit-late": {
    meaning:
      "Counts were last verified two weeks ago, or the audit does not run: what is wrong with totals stays wrong.",
    metric: new MathExpression({
      expression: "336 - oldest",
      usingMetrics: { oldest: logs.sum("AuditAge").with({ statistic: Stats.MAXIMUM }) },
      label: "Hours until counts were not verified for two weeks",
      period: Duration.hours(6),
    }),
  },
});

/** Events that are late or not published. */
export const publishingAlarms = ({ events, logs }: MonitoredResources): MonitoredFaults => ({
  "event-pipe-failures": {
    meaning:
      "The pipe cannot put events on the bus and retries: messages that callers sent are delivered late.",
    metric: faultsDuring(
      events.metric("EventCount", total),
      ["ExecutionFailed", "ExecutionPartiallyFailed", "ExecutionThrottled", "ExecutionTimeout"].map((name) =>
        events.metric(name, total),
      ),
      fiveMinutes.period,
    ),
  },
  "events-stopped": {
    meaning:
      "Leads or messages were written and the pipe reads nothing: messages that callers sent reach no channel.",
    metric: undone({ given: written(logs), signs: [events.metric("EventCount", total)] }, fiveMinutes.period),
  },
  "event-failure-queue": {
    meaning:
      "A batch of events is in the failure queue of the pipe: messages that callers sent reach no channel until it is published.",
    metric: events.failures.metricApproximateNumberOfMessagesVisible({
      statistic: Stats.MAXIMUM,
      ...fiveMinutes,
    }),
  },
});
