import { Duration } from "aws-cdk-lib";
import { Stats } from "aws-cdk-lib/aws-cloudwatch";
import { type AlarmDefinitions, fiveMinutes, persistent } from "./alarm-definition.ts";
import { faultsDuring, undone } from "./alarm-metrics.ts";
import type { LogMetrics } from "./log-metrics.ts";
import type { MonitoredResources } from "./monitored-resources.ts";

/** What callers wrote: each write is a record of the stream, for counting and for the pipe. */
const written = (logs: LogMetrics) => [logs.sum("LeadsCreated"), logs.sum("MessagesSent")];

/** Counts that are late or wrong. */
export const counting = ({ counting, logs }: MonitoredResources): AlarmDefinitions => ({
  "stream-age": {
    wakes: true,
    meaning: "Changes are counted five minutes late: lists cost more and show operators' changes late.",
    // The age has data only while the function is called, and the polls also when there is nothing to count.
    metric: faultsDuring(
      counting.sourceMetric("PolledEventCount", { statistic: Stats.SUM }),
      [counting.maintainer.lambda.metric("IteratorAge", { statistic: Stats.MAXIMUM })],
      fiveMinutes.period,
    ),
    // Older than a period: one change of this age shows that the fault lasts.
    threshold: Duration.minutes(5).toMilliseconds(),
  },
  "counting-stopped": {
    wakes: true,
    meaning:
      "Leads or messages were written and nothing counts them: lists cost more every minute, and show operators' changes late.",
    metric: undone(
      {
        given: written(logs),
        signs: [
          counting.sourceMetric("InvokedEventCount", { statistic: Stats.SUM }),
          counting.maintainer.lambda.metric("IteratorAge", { statistic: Stats.SAMPLE_COUNT }),
        ],
      },
      fiveMinutes.period,
    ),
    threshold: 1,
  },
  "failure-queue": {
    meaning:
      "A batch of changes is in the failure queue of maintain-counts: totals of the accounts in its log may be wrong until they are rebuilt.",
    metric: counting.failures.metricApproximateNumberOfMessagesVisible({
      statistic: Stats.MAXIMUM,
      ...fiveMinutes,
    }),
    threshold: 1,
  },
  "counts-damaged": {
    meaning:
      "Stored counts were damaged and are counted again: lists of the account in the log may return 503 until that is done.",
    metric: logs.sum("DamagedCounts").with(fiveMinutes),
    threshold: 1,
  },
  "counts-repaired": {
    meaning:
      "An audit found counts that differed from the rows and corrected them: totals of the account in the log were wrong.",
    metric: logs.sum("RepairedCounts").with(fiveMinutes),
    threshold: 1,
  },
});

/** Events that are late or not published. */
export const publishing = ({ events, logs }: MonitoredResources): AlarmDefinitions => ({
  "event-pipe-failures": {
    wakes: true,
    meaning:
      "The pipe cannot put events on the bus and retries: messages that callers sent are delivered late.",
    metric: faultsDuring(
      events.metric("EventCount", { statistic: Stats.SUM }),
      ["ExecutionFailed", "ExecutionPartiallyFailed", "ExecutionThrottled", "ExecutionTimeout"].map((name) =>
        events.metric(name, { statistic: Stats.SUM }),
      ),
      fiveMinutes.period,
    ),
    threshold: 1,
    periods: persistent,
  },
  "events-stopped": {
    wakes: true,
    meaning:
      "Leads or messages were written and the pipe reads nothing: messages that callers sent reach no channel.",
    metric: undone(
      { given: written(logs), signs: [events.metric("EventCount", { statistic: Stats.SUM })] },
      fiveMinutes.period,
    ),
    threshold: 1,
  },
  "event-failure-queue": {
    wakes: true,
    meaning:
      "A batch of events is in the failure queue of the pipe: messages that callers sent reach no channel until it is published.",
    metric: events.failures.metricApproximateNumberOfMessagesVisible({
      statistic: Stats.MAXIMUM,
      ...fiveMinutes,
    }),
    threshold: 1,
  },
});
