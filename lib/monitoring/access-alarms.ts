import { MathExpression } from "aws-cdk-lib/aws-cloudwatch";
import { fiveMinutes } from "./alarm-metrics.ts";
import type { MonitoredFaults, MonitoredResources } from "./monitored-resources.ts";

/** Who reaches the API and its data: keys, limits, items that no code of the service writes, the certificate, and the canary. */
export const accessAlarms = ({ logs, certificate, canary }: MonitoredResources): MonitoredFaults => ({
  "forbidden-requests": {
    meaning:
      "Many requests are refused with 403: a client has a key that does not work, or somebody tries keys.",
    metric: logs.sum("ForbiddenRequests").with(fiveMinutes),
  },
  "rate-limiter-open": {
    meaning:
      "The rate limiter cannot use the table and lets requests pass: one account can take the capacity of all others.",
    metric: logs.sum("RateLimitFailures").with(fiveMinutes),
  },
  "malformed-items": {
    meaning:
      "An item is stored that no code of the service writes, and a reader left it out: a function may have been taken over.",
    metric: logs.sum("MalformedItems").with(fiveMinutes),
  },
  ...(certificate && {
    "certificate-expiry": {
      meaning:
        "The certificate of the custom domain expires in less than 30 days or has expired: clients cannot connect without a valid one.",
      metric: certificate.metricDaysToExpiry(),
    },
  }),
  ...(canary && {
    canary: {
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
    },
  }),
});
