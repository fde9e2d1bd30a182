import { Metric, Stats, Unit } from "aws-cdk-lib/aws-cloudwatch";
import type { Function as LambdaFunction } from "aws-cdk-lib/aws-lambda";
import { FilterPattern, type ILogGroup, type JsonPattern, MetricFilter } from "aws-cdk-lib/aws-logs";
import { Construct } from "constructs";
import type { RequestLine } from "../../shared/http/request-log.ts";
import { type RouteName, routes } from "../../shared/routes.ts";
import type { FunctionName } from "../bundling/bundle.ts";
import type { accessLogFields } from "../constructs/access-log.ts";

interface RequestMetricsProps {
  readonly namespace: string;
  readonly functions: ReadonlyMap<FunctionName, LambdaFunction>;
  readonly accessLog: ILogGroup;
}

/** Lambda's JSON log format puts an object that is logged under `message`. */
const field = (name: keyof RequestLine) => `$.message.${name}`;

const accessField = (name: keyof typeof accessLogFields) => `$.${name}`;

/** The lines of requests for which the other patterns hold too. */
const requests = (...patterns: readonly JsonPattern[]) =>
  FilterPattern.all(FilterPattern.stringValue(field("event"), "=", "request"), ...patterns);

const replayed = (value: boolean) => FilterPattern.booleanValue(field("replayed"), value);

const status = (value: number) => FilterPattern.numberValue(field("status"), "=", value);

interface Counter {
  readonly routes: readonly RouteName[];
  readonly lines: JsonPattern;
}

/** What is counted in the logs of which routes' functions, by the name of the metric. */
const counters = {
  LeadsCreated: { routes: ["create-lead"], lines: requests(status(201), replayed(false)) },
  MessagesSent: { routes: ["send-message"], lines: requests(status(201), replayed(false)) },
  ReplayedRequests: { routes: ["create-lead", "send-message"], lines: requests(replayed(true)) },
  RateLimitFailures: {
    routes: Object.keys(routes) as RouteName[],
    lines: FilterPattern.stringValue(field("event"), "=", "rate limiter failed open"),
  },
  RateLimitedRequests: { routes: Object.keys(routes) as RouteName[], lines: requests(status(429)) },
} satisfies Record<string, Counter>;

/** A 429 that is not a function's. The gateway's own metrics do not tell one 4xx from another. */
const throttled = FilterPattern.all(
  FilterPattern.stringValue(accessField("status"), "=", "429"),
  FilterPattern.stringValue(accessField("integrationStatus"), "!=", "429"),
);

/** Every metric that is counted from the logs. */
export type RequestMetricName = keyof typeof counters | "ThrottledRequests";

/** What the service did, counted by CloudWatch from what it logs: no request waits for a metric. */
export class RequestMetrics extends Construct {
  private readonly namespace: string;

  constructor(scope: Construct, id: string, { namespace, functions, accessLog }: RequestMetricsProps) {
    super(scope, id);
    this.namespace = namespace;
    for (const [metricName, counter] of Object.entries<Counter>(counters)) {
      for (const [name, { logGroup }] of functions) {
        if (counter.routes.some((route) => route === name)) {
          this.addFilter(`${metricName}-${name}`, metricName, logGroup, counter.lines);
        }
      }
    }
    this.addFilter("ThrottledRequests", "ThrottledRequests", accessLog, throttled);
  }

  /** How many requests of a kind there were. */
  sum(metricName: RequestMetricName): Metric {
    return new Metric({ namespace: this.namespace, metricName, statistic: Stats.SUM });
  }

  private addFilter(id: string, metricName: string, logGroup: ILogGroup, filterPattern: JsonPattern) {
    new MetricFilter(this, id, {
      logGroup,
      filterPattern,
      metricNamespace: this.namespace,
      metricName,
      // Other lines count as none, so that a graph tells "none" from "no requests at all".
      defaultValue: 0,
      unit: Unit.COUNT,
    });
  }
}
