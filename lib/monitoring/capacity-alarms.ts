import { MathExpression, Metric, Stats } from "aws-cdk-lib/aws-cloudwatch";
import { always, faultsDuring, fiveMinutes, minute, total } from "./alarm-metrics.ts";
import type { MonitoredFaults, MonitoredResources } from "./monitored-resources.ts";

/** Requests, invocations, reads and writes over a limit. */
export const throttleAlarms = ({ api, table, functions, logs }: MonitoredResources): MonitoredFaults => ({
  "gateway-throttles": {
    meaning: "All accounts together exceed the stage's throttle: the gateway returns 429 to any of them.",
    metric: logs.sum("ThrottledRequests").with(fiveMinutes),
  },
  "function-throttles": {
    meaning:
      "Lambda has no concurrency left for the functions: callers get 5xx, and counts and events are late.",
    metric: faultsDuring(
      api.stage.metricCount(total),
      functions.map(({ lambda }) => lambda.metricThrottles()),
      fiveMinutes.period,
    ),
  },
  "concurrency-near-quota": {
    meaning:
      "All functions of the AWS account use 80 % of its concurrent executions: above the quota, callers get 5xx.",
    metric: new MathExpression({
      expression: "100 * used / SERVICE_QUOTA(used) + TIME_SERIES(0)",
      usingMetrics: {
        // The execution environments of all functions that work at the same time.
        used: new Metric({
          namespace: "AWS/Usage",
          metricName: "ResourceCount",
          dimensionsMap: {
            Type: "Resource",
            Service: "Lambda",
            Resource: "ConcurrentExecutions",
            Class: "None",
          },
          statistic: Stats.MAXIMUM,
        }),
      },
      label: "Percentage of the quota",
      ...fiveMinutes,
    }),
  },
  "table-read-throttles": {
    meaning: "DynamoDB throttles reads: lists and messages of the busiest accounts are slow or are refused.",
    metric: faultsDuring(
      table.metricConsumedReadCapacityUnits(total),
      table.metricThrottleEvents("Read"),
      fiveMinutes.period,
    ),
  },
  "table-write-throttles": {
    meaning: "DynamoDB throttles writes: leads and messages of the busiest accounts are slow or are refused.",
    metric: faultsDuring(
      table.metricConsumedWriteCapacityUnits(total),
      table.metricThrottleEvents("Write"),
      fiveMinutes.period,
    ),
  },
});

/** Faults of the versions that requests shift to. */
export const releaseAlarms = ({ deployment }: MonitoredResources): MonitoredFaults =>
  deployment
    ? {
        "new-version-errors": {
          meaning: "A new version of a function crashes or times out: its requests fail with 5xx.",
          metric: always("error", deployment.metricErrors(), minute.period),
          rollsBack: true,
        },
      }
    : {};
