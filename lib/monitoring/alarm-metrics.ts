import { MathExpression, Metric, Stats } from "aws-cdk-lib/aws-cloudwatch";
import * as logEvents from "../../shared/logging/log-events.ts";
import { type RouteName, routes } from "../../shared/routes.ts";
import type { ServiceFunction } from "../constructs/service-function.ts";
import { always, faultsDuring, lasting, percentage, undone } from "./metric-math.ts";
import type { MonitoredResources } from "./monitored-resources.ts";

const total = { statistic: Stats.SUM };
const maximum = { statistic: Stats.MAXIMUM };

/** What each alarm watches, by its name; undefined if the stage does not have it. */
export function alarmMetrics(
  resources: MonitoredResources,
): Readonly<Record<string, Metric | MathExpression | undefined>> {
  const { api, table, counting, events, functions, logs, canary } = resources;
  const names = (of: readonly ServiceFunction[]) => of.map(({ name }) => name);
  const routesOf = (kind: "list" | "write") =>
    api.handlers.filter(({ name }) => routes[name as RouteName].kind === kind);
  // Lambda's errors, and logged 5xx that no caller can cause alone. Lambda's metrics cost nothing.
  const serverErrors = (of: readonly ServiceFunction[]) =>
    percentage(
      of.map(({ name, lambda }) => ({
        bad: [...logs.lines(logEvents.requestFailed, name), lambda.metricErrors()],
        all: lambda.metricInvocations(),
      })),
      1,
    );
  // What callers wrote: each write is a record of the stream, for counting and for the pipe.
  const given = logs.lines(logEvents.request, "create-lead", "send-message");
  const iteratorAge = (statistic: string) => counting.maintainer.lambda.metric("IteratorAge", { statistic });
  const pipeFaults = ["Failed", "PartiallyFailed", "Throttled", "Timeout"].map((fault) =>
    events.metric(`Execution${fault}`, total),
  );
  return {
    "server-errors-authorize": serverErrors([api.authorizer]),
    "server-errors-lists": serverErrors(routesOf("list")),
    "server-errors-writes": serverErrors(routesOf("write")),
    "slow-answers": percentage(
      api.handlers.map(({ lambda }) => ({
        // No function of a route may take as long as thirty seconds.
        bad: [lambda.metricDuration({ statistic: "TC(1000:30000)" })],
        all: lambda.metricDuration({ statistic: Stats.SAMPLE_COUNT }),
      })),
      5,
    ),
    "error-budget": percentage(
      [{ bad: [api.stage.metricServerError(total)], all: api.stage.metricCount(total) }],
      5,
    ),
    "forbidden-requests": logs.requests("ForbiddenRequests"),
    "rate-limiter-open": always("line", logs.lines(logEvents.rateLimiterFailedOpen, ...names(api.handlers))),
    "malformed-items": always("line", logs.lines(logEvents.malformedItem, ...names(functions))),
    "certificate-expiry": resources.certificate?.metricDaysToExpiry(),
    canary:
      canary &&
      new MathExpression({
        // In place of a missing value, CloudWatch would evaluate older ones for a while.
        expression: "runs - failures + TIME_SERIES(0)",
        usingMetrics: {
          runs: canary.runner.lambda.metricInvocations(),
          failures: canary.runner.lambda.metricErrors(),
        },
      }),
    "gateway-throttles": logs.requests("ThrottledRequests"),
    "function-throttles": new MathExpression({
      expression: "IF(throttles > 0, 100, 100 * used / SERVICE_QUOTA(used) + TIME_SERIES(0))",
      usingMetrics: {
        throttles: always(
          "throttles",
          functions.map(({ lambda }) => lambda.metricThrottles()),
        ),
        used: concurrentExecutions,
      },
    }),
    "table-read-throttles": faultsDuring(
      table.metricConsumedReadCapacityUnits(total),
      table.metricThrottleEvents("Read"),
    ),
    "table-write-throttles": faultsDuring(
      table.metricConsumedWriteCapacityUnits(total),
      table.metricThrottleEvents("Write"),
    ),
    "counting-late": undone({
      given,
      signs: [counting.sourceMetric("InvokedEventCount", total), iteratorAge(Stats.SAMPLE_COUNT)],
      faults: [
        new MathExpression({
          // Milliseconds. Older than a period: one change of this age shows that the fault lasts.
          expression: "age + TIME_SERIES(0) >= 300000",
          usingMetrics: { age: iteratorAge(Stats.MAXIMUM) },
        }),
      ],
    }),
    "counts-wrong": always("sign", [
      counting.failures.metricApproximateNumberOfMessagesVisible(maximum),
      ...logs.lines(logEvents.lateWrites, "maintain-counts"),
      ...logs.lines(logEvents.countsGivenUp, "maintain-counts", "audit-counts"),
      ...logs.lines(logEvents.countsRepaired, "audit-counts"),
      ...logs.lines(logEvents.countsDamaged, "maintain-counts", "audit-counts", ...names(routesOf("list"))),
    ]),
    "audit-late": new MathExpression({
      // Hours until two rounds of the audit were missed.
      expression: `${14 * 24} - oldest`,
      usingMetrics: { oldest: logs.auditAge },
    }),
    "events-late": undone({
      given,
      signs: [events.metric("EventCount", total)],
      // A pipe retries seldom, and other batches succeed meanwhile.
      faults: [events.failures.metricApproximateNumberOfMessagesVisible(maximum), lasting(pipeFaults)],
    }),
    "new-version-errors": resources.deployment && always("error", resources.deployment.metricErrors()),
  };
}

/** The execution environments of all functions of the AWS account that work at the same time. */
const concurrentExecutions = new Metric({
  namespace: "AWS/Usage",
  metricName: "ResourceCount",
  dimensionsMap: { Type: "Resource", Service: "Lambda", Resource: "ConcurrentExecutions", Class: "None" },
  ...maximum,
});
