import { Stack } from "aws-cdk-lib";
import { Metric, Stats, Unit } from "aws-cdk-lib/aws-cloudwatch";
import { FilterPattern, type ILogGroup, type JsonPattern, MetricFilter } from "aws-cdk-lib/aws-logs";
import { Construct } from "constructs";
import type { RequestLine } from "../../shared/http/request-log.ts";
import * as logEvents from "../../shared/logging/log-events.ts";
import { routes } from "../../shared/routes.ts";
import type { FunctionName } from "../bundling/bundle.ts";
import type { accessLogFields } from "../constructs/access-log.ts";
import type { ServiceFunction } from "../constructs/service-function.ts";

/** Lambda's JSON log format puts a logged object under `message`. */
const field = (name: keyof RequestLine) => `$.message.${name}`;

const accessField = (name: keyof typeof accessLogFields) => `$.${name}`;

const event = (value: string) => FilterPattern.stringValue(field("event"), "=", value);

/** A 201 that is no replay. */
const written = FilterPattern.all(
  event(logEvents.request),
  FilterPattern.numberValue(field("status"), "=", 201),
  FilterPattern.booleanValue(field("replayed"), false),
);

const everyRoute = Object.values(routes).map(({ name }) => name);

interface FunctionLines {
  readonly functions: readonly FunctionName[];
  readonly lines: JsonPattern;
  /** The field with the metric's value; without it, the metric counts the lines. */
  readonly value?: string;
}

/** Which log lines of which functions each metric counts. */
const functionMetrics = {
  LeadsCreated: { functions: ["create-lead"], lines: written },
  MessagesSent: { functions: ["send-message"], lines: written },
  RateLimitFailures: { functions: everyRoute, lines: event(logEvents.rateLimiterFailedOpen) },
  MalformedItems: {
    functions: [...everyRoute, "authorize", "audit-counts", "compose-events", "canary"],
    lines: event(logEvents.malformedItem),
  },
  /** In hours. */
  AuditAge: { functions: ["audit-counts"], lines: event(logEvents.countsAudited), value: "$.message.oldest" },
  LateWrites: { functions: ["maintain-counts"], lines: event(logEvents.lateWrites) },
  DamagedCounts: {
    functions: ["maintain-counts", "audit-counts", "list-leads", "list-conversations"],
    lines: FilterPattern.any(
      ...[logEvents.countsDamaged, logEvents.countsGivenUp, logEvents.countsRepaired].map(event),
    ),
  },
} satisfies Record<string, FunctionLines>;

const failure = event(logEvents.requestFailed);

/** A 5xx of a function, but not of a list with too many rows or calls: its account can cause that alone. */
const failed = FilterPattern.any(
  FilterPattern.all(failure, FilterPattern.stringValue("$.message.cause.name", "!=", "TooExpensiveError")),
  FilterPattern.all(failure, FilterPattern.stringValue("$.message.cause.code", "=", "not_admitted")),
);

/** Which lines of the gateway's access log each metric counts. */
const accessMetrics = {
  /** A 429 that no function returned. The gateway's own metrics do not tell one 4xx from another. */
  ThrottledRequests: FilterPattern.all(
    FilterPattern.stringValue(accessField("status"), "=", "429"),
    FilterPattern.stringValue(accessField("integrationStatus"), "!=", "429"),
  ),
  /** Keys that the authorizer refuses, and writes with keys that may only read. */
  ForbiddenRequests: FilterPattern.stringValue(accessField("status"), "=", "403"),
} satisfies Record<string, JsonPattern>;

type LogMetricName =
  | keyof typeof functionMetrics
  | keyof typeof accessMetrics
  | `FailedRequests-${FunctionName}`;

interface LogMetricsProps {
  readonly accessLog: ILogGroup;
  readonly functions: readonly ServiceFunction[];
}

/** Metrics that CloudWatch counts from the logs, so that no request waits for a metric to be written. */
export class LogMetrics extends Construct {
  private readonly namespace = Stack.of(this).stackName;

  constructor(scope: Construct, id: string, { accessLog, functions }: LogMetricsProps) {
    super(scope, id);
    for (const { name, lambda } of functions) {
      for (const [metricName, metric] of Object.entries<FunctionLines>(functionMetrics))
        if (metric.functions.includes(name))
          this.addFilter(`${metricName}-${name}`, metricName, lambda.logGroup, metric.lines, metric.value);
      if (everyRoute.some((route) => route === name))
        this.addFilter(`FailedRequests-${name}`, `FailedRequests-${name}`, lambda.logGroup, failed);
    }
    for (const [metricName, lines] of Object.entries(accessMetrics))
      this.addFilter(metricName, metricName, accessLog, lines);
  }

  /** The number of lines that a metric counted. */
  sum(metricName: LogMetricName): Metric {
    return new Metric({ namespace: this.namespace, metricName, statistic: Stats.SUM });
  }

  private addFilter(
    id: string,
    metricName: string,
    logGroup: ILogGroup,
    filterPattern: JsonPattern,
    metricValue?: string,
  ) {
    new MetricFilter(this, id, {
      logGroup,
      filterPattern,
      metricNamespace: this.namespace,
      metricName,
      metricValue,
      // Lines that do not match count as 0, so that a graph tells "none" from "no requests".
      ...(metricValue === undefined && { defaultValue: 0, unit: Unit.COUNT }),
    });
  }
}
