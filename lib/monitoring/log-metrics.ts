import { Stack } from "aws-cdk-lib";
import { Metric, type MetricOptions, Stats } from "aws-cdk-lib/aws-cloudwatch";
import { FilterPattern, type ILogGroup, MetricFilter, type MetricFilterOptions } from "aws-cdk-lib/aws-logs";
import { Construct } from "constructs";
import * as logEvents from "../../shared/logging/log-events.ts";
import type { FunctionName } from "../bundling/bundle.ts";
import type { ServiceFunction } from "../constructs/service-function.ts";

/** Lambda's JSON log format puts a logged object under `message`. */
const event = (value: string) => `$.message.event = "${value}"`;

/** Which lines of each function are counted, by their `event`. */
const counted = [
  // A 201 that is no replay.
  `${event(logEvents.request)} && $.message.status = 201 && $.message.replayed IS FALSE`,
  // A 5xx of a function, except for a list with too many rows or calls, which an account can cause alone.
  `${event(logEvents.requestFailed)} && $.message.cause.name != "TooExpensiveError"`,
  `${event(logEvents.requestFailed)} && $.message.cause.code = "not_admitted"`,
  event(logEvents.rateLimiterFailedOpen),
  event(logEvents.invalidItem),
  event(logEvents.lateWrites),
  event(logEvents.countsDamaged),
  event(logEvents.countsGivenUp),
  event(logEvents.countsRepaired),
]
  .map((lines) => `(${lines})`)
  .join(" || ");

/** Metrics that count lines of a single function. */
const ownMetrics = {
  /** The age of the oldest verification of a list's counts, in hours. */
  AuditAge: { of: "audit-counts", lines: event(logEvents.countsAudited), metricValue: "$.message.oldest" },
  /** Senders that Meta has refused, or whose tokens it has refused. */
  RefusedSenders: { of: "deliver-message", lines: event(logEvents.senderRefused) },
  UnknownSenders: { of: "receive-webhook", lines: event(logEvents.senderUnknown) },
};

/** Metrics that count lines of the gateway's access log. With `defaultValue`, other lines count as 0 and end an alarm. */
const accessMetrics = {
  /** A 429 that no function returned. The gateway's own metrics do not distinguish the 4xx statuses. */
  ThrottledRequests: { lines: `$.status = "429" && $.integrationStatus != "429"`, defaultValue: 0 },
  /** Keys that the authorizer refuses, and writes with keys that may only read. */
  ForbiddenRequests: { lines: `$.status = "403"`, defaultValue: 0 },
  /** Writes to frozen accounts. While no account is frozen, there is no data, which costs nothing. */
  FrozenRequests: { lines: `$.status = "503" && $.httpMethod = "POST" && $.frozenAt = "2*"` },
};

type MetricName = FunctionName | keyof typeof ownMetrics | keyof typeof accessMetrics;

/**
 * Metrics that CloudWatch counts from the logs, so that no request waits for a metric to be written. One filter counts all
 * lines of a function: its metric has the function's name, and the `event` as a dimension.
 */
export class LogMetrics extends Construct {
  private readonly namespace = Stack.of(this).stackName;

  constructor(scope: Construct, id: string, accessLog: ILogGroup, functions: readonly ServiceFunction[]) {
    super(scope, id);
    for (const { name, lambda } of functions) {
      this.addFilter(name, lambda.logGroup, counted, { dimensions: { Event: "$.message.event" } });
      for (const [metric, { of, lines, ...options }] of Object.entries(ownMetrics))
        if (of === name) this.addFilter(metric, lambda.logGroup, lines, options);
    }
    for (const [name, { lines, ...options }] of Object.entries(accessMetrics))
      this.addFilter(name, accessLog, lines, options);
  }

  /** How many counted lines with this `event` each of these functions wrote. A metric without lines has no data. */
  lines(event: string, ...functions: readonly ServiceFunction[]): Metric[] {
    return functions.map(({ name }) => this.metric(name, { dimensionsMap: { Event: event } }));
  }

  metric(metricName: MetricName, options?: MetricOptions): Metric {
    return new Metric({ namespace: this.namespace, metricName, statistic: Stats.SUM, ...options });
  }

  private addFilter(id: string, logGroup: ILogGroup, lines: string, options: Partial<MetricFilterOptions>) {
    new MetricFilter(this, id, {
      logGroup,
      filterPattern: FilterPattern.literal(`{ ${lines} }`),
      metricNamespace: this.namespace,
      metricName: id,
      ...options,
    });
  }
}
