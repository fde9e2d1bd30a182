import { Duration } from "aws-cdk-lib";
import { type IMetric, Stats } from "aws-cdk-lib/aws-cloudwatch";
import type { ServiceFunction } from "../constructs/service-function.ts";
import { percentage, total } from "./alarm-metrics.ts";
import type { MonitoredFault, MonitoredFaults, MonitoredResources } from "./monitored-resources.ts";

/**
 * The service levels of each route, and of the authorizer in front of all: 99.9 % of the requests of a month without a 5xx,
 * and 99 % below a second. What wakes counts what the service is to blame for: no list with too many rows, and no lack of
 * concurrency, which one caller can cause. Lambda's metrics have the requests of each function at no cost.
 */
export const serviceLevels = ({
  api: { stage, authorizer, handlers },
  logs,
}: MonitoredResources): MonitoredFaults => ({
  ...Object.fromEntries(
    [authorizer, ...handlers].map(({ name, lambda }) => {
      const failed = name === authorizer.name ? [] : [logs.sum(`FailedRequests-${name}`)];
      const alarm = serverErrors(name, [...failed, lambda.metricErrors()], lambda.metricInvocations());
      return [`server-errors-${name}`, { ...alarm, rollsBack: true, section: "server-errors" }];
    }),
  ),
  ...Object.fromEntries(handlers.map((fn) => [`slow-answers-${fn.name}`, slowAnswers(fn)])),
  "error-budget": {
    meaning: "Requests fail with 5xx so often that the failures of a month are used up in days.",
    metric: percentage([stage.metricServerError(total)], stage.metricCount(total), 5, Duration.hours(6)),
  },
});

const serverErrors = (name: string, bad: readonly IMetric[], all: IMetric): MonitoredFault => ({
  meaning: `Requests of ${name} fail with 5xx: callers cannot read or write and must retry.`,
  metric: percentage(bad, all, 1, Duration.minutes(5)),
});

function slowAnswers({ name, lambda }: ServiceFunction): MonitoredFault {
  // No function of a route may take as long as thirty seconds.
  const slow = lambda.metricDuration({ statistic: "TC(1000:30000)" });
  return {
    meaning: `Requests of ${name} take more than a second: callers wait, and some time out.`,
    metric: percentage(
      [slow],
      lambda.metricDuration({ statistic: Stats.SAMPLE_COUNT }),
      5,
      Duration.hours(1),
    ),
    rollsBack: true,
    section: "slow-answers",
  };
}
