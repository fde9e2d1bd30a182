import { MathExpression, type Metric } from "aws-cdk-lib/aws-cloudwatch";
import type { RouteName } from "../../shared/routes.ts";
import { type AlarmDefinition, type AlarmDefinitions, fiveMinutes, persistent } from "./alarm-definition.ts";
import { always } from "./alarm-metrics.ts";
import type { MonitoredResources } from "./monitored-resources.ts";

/** A run of the canary can begin a little later than five minutes after the one before. */
const ofRuns = { breaching: 2, of: 3 };

/** With a canary, a stage always has new writes. Without one, nothing tells stopped writes from none. */
const writesStopped = (route: RouteName, written: Metric): AlarmDefinition => ({
  wakes: true,
  meaning: `No request of ${route} wrote anything for ten minutes, also none of the canary: callers cannot write, whatever status they get.`,
  metric: always("written", [written], fiveMinutes.period),
  threshold: 1,
  required: true,
  periods: ofRuns,
  section: "writes-stopped",
});

/** Who reaches the API and its data: keys, limits, items that no code of the service writes, the certificate, and the canary. */
export const accessAlarms = ({ logs, certificate, canary }: MonitoredResources): AlarmDefinitions => ({
  "forbidden-requests": {
    meaning:
      "Many requests are refused with 403: a client has a key that does not work, or somebody tries keys.",
    // A client that sends a request every three seconds. A person who tries a wrong key does not reach it.
    metric: logs.sum("ForbiddenRequests").with(fiveMinutes),
    threshold: 100,
  },
  "rate-limiter-open": {
    meaning:
      "The rate limiter cannot use the table and lets requests pass: one account can take the capacity of all others.",
    metric: logs.sum("RateLimitFailures").with(fiveMinutes),
    threshold: 1,
    periods: persistent,
  },
  "malformed-items": {
    meaning:
      "An item is stored that no code of the service writes, and a reader left it out: a function may have been taken over.",
    metric: logs.sum("MalformedItems").with(fiveMinutes),
    threshold: 1,
  },
  ...(certificate && {
    "certificate-expiry": {
      meaning:
        "The certificate of the custom domain expires in less than 30 days or has expired: clients cannot connect without a valid one.",
      metric: certificate.metricDaysToExpiry(),
      threshold: 30,
      required: true,
    },
  }),
  ...(canary && {
    canary: {
      wakes: true,
      meaning:
        "The canary did not succeed for ten minutes: callers outside cannot use a route, totals are wrong, or the canary itself does not run.",
      metric: new MathExpression({
        // In place of a missing value, CloudWatch would evaluate older ones for a while.
        expression: "runs - failures + TIME_SERIES(0)",
        usingMetrics: {
          runs: canary.runner.lambda.metricInvocations(),
          failures: canary.runner.lambda.metricErrors(),
        },
        label: "Runs of the canary that succeeded",
        ...fiveMinutes,
      }),
      threshold: 1,
      required: true,
      periods: ofRuns,
    },
    "writes-stopped-create-lead": writesStopped("create-lead", logs.sum("LeadsCreated")),
    "writes-stopped-send-message": writesStopped("send-message", logs.sum("MessagesSent")),
  }),
});
