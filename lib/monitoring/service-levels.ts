import { Duration } from "aws-cdk-lib";
import { type IMetric, Stats } from "aws-cdk-lib/aws-cloudwatch";
import type { ServiceFunction } from "../constructs/service-function.ts";
import type { AlarmDefinition, AlarmDefinitions } from "./alarm-definition.ts";
import { percentage } from "./alarm-metrics.ts";
import type { MonitoredResources } from "./monitored-resources.ts";

/** The requests of a month, in percent, that may miss an objective. `docs/operations.md` has the objectives. */
const budgets = { failed: 0.1, slow: 1 };

/** How many times faster than in a month the budget is used up: in an hour, 2 % of it, and 0.4 %. */
const burnRates = { failed: 14.4, slow: 3 };

/** The longest time that any function of a route may take, in milliseconds. */
const longest = 30_000;

/**
 * The service levels of each route, and of the authorizer in front of all. They count what the service is to blame for: no
 * 4xx, and no list that is too expensive. Lambda's metrics have each function's requests at no cost.
 */
export const serviceLevels = ({ api, logs }: MonitoredResources): AlarmDefinitions =>
  Object.fromEntries([
    serverErrors(api.authorizer, []),
    ...api.handlers.map((fn) => serverErrors(fn, [logs.sum(`FailedRequests-${fn.name}`)])),
    ...api.handlers.map(slowAnswers),
  ]);

const serverErrors = ({ name, lambda }: ServiceFunction, failed: readonly IMetric[]) =>
  [
    `server-errors-${name}`,
    {
      severity: "wake",
      meaning: `Requests of ${name} fail with 5xx: callers cannot read or write and must retry.`,
      // With few requests, a few failures are a large percentage.
      ...inBothWindows(
        [...failed, lambda.metricErrors()],
        lambda.metricInvocations(),
        3,
        Duration.minutes(5),
      ),
      threshold: budgets.failed * burnRates.failed,
      rollsBack: true,
      section: "server-errors",
    },
  ] as const satisfies [string, AlarmDefinition];

const slowAnswers = ({ name, lambda }: ServiceFunction) =>
  [
    `slow-answers-${name}`,
    {
      severity: "look",
      meaning: `Requests of ${name} take more than a second: callers wait, and some time out.`,
      ...inBothWindows(
        [lambda.metricDuration({ statistic: `TC(1000:${longest})` })],
        lambda.metricDuration({ statistic: Stats.SAMPLE_COUNT }),
        5,
        Duration.minutes(15),
      ),
      threshold: budgets.slow * burnRates.slow,
      rollsBack: true,
      section: "slow-answers",
    },
  ] as const satisfies [string, AlarmDefinition];

/** @param atLeast how many bad requests an hour must have */
const inBothWindows = (bad: readonly IMetric[], all: IMetric, atLeast: number, recent: Duration) => ({
  metric: percentage(bad, all, atLeast, Duration.hours(1)),
  recently: percentage(bad, all, 1, recent),
});
