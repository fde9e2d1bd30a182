import { Stack } from "aws-cdk-lib";
import { Metric, Stats, Unit } from "aws-cdk-lib/aws-cloudwatch";
import { FilterPattern, type ILogGroup, type JsonPattern, MetricFilter } from "aws-cdk-lib/aws-logs";
import { Construct } from "constructs";
import type { RequestLine } from "../../shared/http/request-log.ts";
import * as logEvents from "../../shared/logging/log-events.ts";
import { type RouteName, routes } from "../../shared/routes.ts";
import type { FunctionName } from "../bundling/bundle.ts";
import type { accessLogFields } from "../constructs/access-log.ts";
import type { Api } from "../constructs/api.ts";
import type { Counting } from "../constructs/counting.ts";
import type { EventPipe } from "../constructs/event-pipe.ts";

/** Lambda's JSON log format puts a logged object under `message`. */
const field = (name: keyof RequestLine) => `$.message.${name}`;

const accessField = (name: keyof typeof accessLogFields) => `$.${name}`;

const event = (value: string) => FilterPattern.stringValue(field("event"), "=", value);

/** Request lines that also match the other patterns. */
const requests = (...patterns: readonly JsonPattern[]) =>
  FilterPattern.all(event(logEvents.request), ...patterns);

const replayed = (value: boolean) => FilterPattern.booleanValue(field("replayed"), value);

const status = (value: number) => FilterPattern.numberValue(field("status"), "=", value);

interface Counter {
  readonly routes: readonly RouteName[];
  readonly lines: JsonPattern;
}

const everyRoute = Object.values(routes).map(({ name }) => name);

/** Which log lines of which routes' functions each metric counts. */
const counters = {
  LeadsCreated: { routes: ["create-lead"], lines: requests(status(201), replayed(false)) },
  MessagesSent: { routes: ["send-message"], lines: requests(status(201), replayed(false)) },
  ReplayedRequests: { routes: ["create-lead", "send-message"], lines: requests(replayed(true)) },
  RateLimitFailures: { routes: everyRoute, lines: event(logEvents.rateLimiterFailedOpen) },
  RefusedRequests: { routes: everyRoute, lines: requests(status(429)) },
} satisfies Record<string, Counter>;

/** A 429 that no function returned. The gateway's own metrics do not tell one 4xx from another. */
const throttled = FilterPattern.all(
  FilterPattern.stringValue(accessField("status"), "=", "429"),
  FilterPattern.stringValue(accessField("integrationStatus"), "!=", "429"),
);

/** Keys that the authorizer refuses, and writes with keys that may only read. */
const forbidden = FilterPattern.stringValue(accessField("status"), "=", "403");

/** A 5xx that no function returned: it crashed, Lambda had no concurrency left, or the gateway may not call it. */
const gatewayFailed = FilterPattern.all(
  FilterPattern.stringValue(accessField("status"), "=", "5*"),
  FilterPattern.stringValue(accessField("integrationStatus"), "!=", "5*"),
);

/** A 5xx of a function, but not of a list with too many rows or calls: its account can cause that alone. */
const failure = event(logEvents.requestFailed);
const failed = FilterPattern.any(
  FilterPattern.all(failure, FilterPattern.stringValue("$.message.cause.name", "!=", "TooExpensiveError")),
  FilterPattern.all(failure, FilterPattern.stringValue("$.message.cause.code", "=", "not_admitted")),
);

type LogMetricName =
  | keyof typeof counters
  | `FailedRequests-${FunctionName}`
  | "ThrottledRequests"
  | "GatewayFailures"
  | "ForbiddenRequests"
  | "MalformedItems"
  | "DamagedCounts"
  | "RepairedCounts";

interface LogMetricsProps {
  readonly api: Api;
  readonly counting: Counting;
  readonly events: EventPipe;
}

/** Metrics that CloudWatch counts from the logs, so that no request waits for a metric to be written. */
export class LogMetrics extends Construct {
  private readonly namespace = Stack.of(this).stackName;

  constructor(scope: Construct, id: string, { api, counting, events }: LogMetricsProps) {
    super(scope, id);
    const { handlers, accessLog, authorizer } = api;
    for (const [metricName, counter] of Object.entries<Counter>(counters)) {
      for (const { name, lambda } of handlers) {
        if (counter.routes.some((route) => route === name)) {
          this.addFilter(`${metricName}-${name}`, metricName, lambda.logGroup, counter.lines);
        }
      }
    }
    for (const { name, lambda } of handlers) {
      const metric = `FailedRequests-${name}` as const;
      this.addFilter(metric, metric, lambda.logGroup, failed);
    }
    this.addFilter("ThrottledRequests", "ThrottledRequests", accessLog, throttled);
    this.addFilter("GatewayFailures", "GatewayFailures", accessLog, gatewayFailed);
    this.addFilter("ForbiddenRequests", "ForbiddenRequests", accessLog, forbidden);
    const { maintainer, auditor } = counting;
    for (const { name, lambda } of [...handlers, authorizer, auditor, events.composer])
      this.addFilter(
        `MalformedItems-${name}`,
        "MalformedItems",
        lambda.logGroup,
        event(logEvents.malformedItem),
      );
    const readers = handlers.filter(({ name }) => name.startsWith("list-"));
    for (const { name, lambda } of [maintainer, auditor, ...readers])
      this.addFilter(
        `DamagedCounts-${name}`,
        "DamagedCounts",
        lambda.logGroup,
        FilterPattern.any(event(logEvents.countsDamaged), event(logEvents.countsGivenUp)),
      );
    this.addFilter(
      "RepairedCounts",
      "RepairedCounts",
      auditor.lambda.logGroup,
      event(logEvents.countsRepaired),
    );
  }

  /** The number of lines that a metric counted. */
  sum(metricName: LogMetricName): Metric {
    return new Metric({ namespace: this.namespace, metricName, statistic: Stats.SUM });
  }

  private addFilter(id: string, metricName: string, logGroup: ILogGroup, filterPattern: JsonPattern) {
    new MetricFilter(this, id, {
      logGroup,
      filterPattern,
      metricNamespace: this.namespace,
      metricName,
      // Lines that do not match count as 0, so that a graph tells "none" from "no requests".
      defaultValue: 0,
      unit: Unit.COUNT,
    });
  }
}
