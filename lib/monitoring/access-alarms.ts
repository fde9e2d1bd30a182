import type { AlarmDefinitions } from "./alarm-definition.ts";
import { fiveMinutes, minute, persistent } from "./alarm-definition.ts";
import type { MonitoredResources } from "./monitored-resources.ts";

/** Who reaches the API: keys, limits and the certificate. */
export const accessAlarms = ({ logs, certificate }: MonitoredResources): AlarmDefinitions => ({
  "forbidden-requests": {
    meaning:
      "Many requests are refused with 403: a client has a key that does not work, or somebody tries keys.",
    // A client that sends a request every three seconds. A person who tries a wrong key does not reach it.
    metric: logs.sum("ForbiddenRequests").with(fiveMinutes),
    threshold: 100,
  },
  "rate-limiter-open": {
    meaning:
      "The rate limiter cannot use the table and lets all requests pass: one account can take the capacity of all others.",
    metric: logs.sum("RateLimitFailures").with(minute),
    threshold: 1,
    periods: persistent,
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
});
