import { type IMetric, MathExpression, Metric, Stats } from "aws-cdk-lib/aws-cloudwatch";
import * as logEvents from "../../shared/logging/log-events.ts";
import { type Route, type RouteName, routes } from "../../shared/routes.ts";
import type { Api } from "../constructs/api.ts";
import type { Channels } from "../constructs/channels.ts";
import type { Counting } from "../constructs/counting.ts";
import type { Events } from "../constructs/events.ts";
import type { GradualDeployment } from "../constructs/gradual-deployment.ts";
import type { ScheduledCanary } from "../constructs/scheduled-canary.ts";
import type { ServiceFunction } from "../constructs/service-function.ts";
import type { StreamReader } from "../constructs/stream-reader.ts";
import type { ServiceTable } from "../constructs/table.ts";
import type { LogMetrics } from "./log-metrics.ts";
import { always, faultsDuring, percentage } from "./metric-math.ts";

/** Where the metrics of alarms come from; undefined for what the stage does not have. */
export interface MonitoredResources {
  readonly table: ServiceTable;
  readonly api: Api;
  readonly counting: Counting;
  readonly events: Events;
  readonly channels: Channels | undefined;
  readonly logs: LogMetrics;
  readonly canary: ScheduledCanary | undefined;
  readonly deployment: GradualDeployment | undefined;
  readonly functions: readonly ServiceFunction[];
}

/** The properties that an alarm can leave out, with their values then. */
const defaults = {
  /** A page wakes somebody: callers are harmed, and no caller can cause that alone. A ticket waits for working hours. */
  severity: "ticket" as "page" | "ticket",
  threshold: 1,
  unit: "" as "" | "%" | "days",
  /** Whether the metric must always have data. Then, values below the threshold and missing values breach. */
  required: false,
  /** How many of how many periods must breach, and the minutes of a period. */
  periods: [1, 1, 5] as readonly [breaching: number, evaluated: number, minutes: number],
  /** Whether the alarm rolls back a gradual deployment. CodeDeploy accepts ten such alarms. */
  rollsBack: false,
  /** How a caller can raise the alarm. */
  fromOutside: "Nothing",
};

/** An alarm: its metric, when it is raised, and what the runbook states about it. */
interface AlarmDefinition extends Partial<typeof defaults> {
  /** The anchor of its section in the runbook, by default the alarm's name. */
  readonly section?: string;
  readonly means: string;
  /** What to look at first. */
  readonly first: string;
  /** Undefined if the stage does not have what the alarm watches. */
  readonly metric: (resources: MonitoredResources) => Metric | MathExpression | undefined;
}

const total = { statistic: Stats.SUM };
const maximum = { statistic: Stats.MAXIMUM };

const routesOf = (method: Route["method"], { api }: MonitoredResources) =>
  api.handlers.filter(({ name }) => routes[name as RouteName].method === method);

/** The percentage of Lambda's errors and of logged 5xx that no caller can cause alone. Lambda's metrics cost nothing. */
const serverErrors = (of: readonly ServiceFunction[], { logs }: MonitoredResources) =>
  percentage(
    of.map((fn) => ({
      bad: [...logs.lines(logEvents.requestFailed, fn), fn.lambda.metricErrors()],
      all: fn.lambda.metricInvocations(),
    })),
    1,
  );

/** Raised when the error budget of an objective of 99.9 % is spent 14.4 times as fast as a month allows. */
const serverErrorsAlarm = {
  section: "server-errors",
  severity: "page",
  threshold: 1.44,
  unit: "%",
  periods: [2, 3, 5],
  rollsBack: true,
  first: "The errors of the functions, and where they were thrown.",
  fromOutside: "Nothing except a bug that a request triggers",
} as const;

const throttles = (of: readonly ServiceFunction[]) =>
  always(
    "throttles",
    of.map(({ lambda }) => lambda.metricThrottles()),
  );

const tableThrottlesAlarm = {
  section: "table-throttles",
  periods: [2, 2, 5],
  first: "The table or an index, on DynamoDB's automatic dashboard.",
} as const;

/**
 * Whether a reader of the stream is late: 1 if its records are old, if it has a fault, or if callers wrote in the previous
 * period and nothing was read since that period began. Each write makes a record of the stream, but reading takes time and
 * metrics come late. 0 if something was read. No data without writes and reads, when nothing shows whether the reader works.
 *
 * `TIME_SERIES(0)` gives a metric a value in every period, even if it has no data at all. `x - DIFF(x)` is then the value
 * of the previous period. CloudWatch may read only few earlier periods, so no value depends on more than one of them.
 */
function late({ fn }: StreamReader, resources: MonitoredResources, faults: readonly IMetric[] = []) {
  const age = (statistic: string) => fn.lambda.metric("IteratorAge", { statistic });
  const isOld = new MathExpression({
    // Milliseconds. The age is that of a whole period, so that one change of this age shows a lasting fault.
    expression: "age + TIME_SERIES(0) >= 300000",
    usingMetrics: { age: age(Stats.MAXIMUM) },
  });
  return new MathExpression({
    expression: "IF(faults > 0, 1, IF(2 * done - DIFF(done) > 0, 0, IF(work - DIFF(work) > 0, 1)))",
    usingMetrics: {
      // Lambda reports the age of each batch that it passes to the function.
      done: always("sign", [age(Stats.SAMPLE_COUNT)]),
      work: always("given", resources.logs.lines(logEvents.request, ...routesOf("POST", resources))),
      faults: always("fault", [isOld, ...faults]),
    },
  });
}

/** How many execution environments of all functions of the AWS account work at the same time. */
const concurrentExecutions = new Metric({
  namespace: "AWS/Usage",
  metricName: "ResourceCount",
  dimensionsMap: { Type: "Resource", Service: "Lambda", Resource: "ConcurrentExecutions", Class: "None" },
  ...maximum,
});

const definitions: Readonly<Record<string, AlarmDefinition>> = {
  "server-errors-authorize": {
    ...serverErrorsAlarm,
    means: "The authorizer fails: once its cached results have expired, valid keys get 500 on every route.",
    fromOutside:
      "Nothing except a bug that a request triggers. With `authorizerCacheSeconds` 0, also more than 3,000 requests a second of one key",
    metric: (resources) => serverErrors([resources.api.authorizer], resources),
  },
  "server-errors-lists": {
    ...serverErrorsAlarm,
    means: "Requests of a list fail with 5xx: callers cannot read and must retry.",
    metric: (resources) => serverErrors(routesOf("GET", resources), resources),
  },
  "server-errors-writes": {
    ...serverErrorsAlarm,
    means: "Requests that write fail with 5xx: callers cannot add leads or messages and must retry.",
    metric: (resources) => serverErrors(routesOf("POST", resources), resources),
  },
  "slow-answers": {
    threshold: 3,
    unit: "%",
    periods: [1, 1, 60],
    rollsBack: true,
    means: "Requests of a route take more than a second: callers wait, and some time out.",
    first: "Which route: the p99 duration on Lambda's automatic dashboard.",
    fromOutside: "Long lists that take a second or more, as 3 % of the requests of a list route",
    metric: ({ api }) =>
      percentage(
        api.handlers.map(({ lambda }) => ({
          // Every function of a route times out before thirty seconds.
          bad: [lambda.metricDuration({ statistic: "TC(1000:30000)" })],
          all: lambda.metricDuration({ statistic: Stats.SAMPLE_COUNT }),
        })),
        5,
      ),
  },
  "error-budget": {
    threshold: 0.3,
    unit: "%",
    periods: [1, 1, 360],
    means: "Requests fail with 5xx so often that the error budget of a month is used up in ten days.",
    first: "The errors of the last six hours, then the access log.",
    fromOutside: "Long lists that get 503",
    metric: ({ api: { stage }, logs }) => {
      // A refused write to a frozen account is no failure.
      const usingMetrics = {
        failed: stage.metricServerError(total),
        frozen: logs.metric("FrozenRequests"),
      };
      const bad = new MathExpression({ expression: "failed - frozen", usingMetrics });
      return percentage([{ bad: [bad], all: stage.metricCount(total) }], 5);
    },
  },
  "forbidden-requests": {
    threshold: 100,
    means:
      "Many requests are refused with 403: a client has a key that does not work, or somebody tries keys.",
    first: "Who is refused, in the access log.",
    fromOutside: "Anybody, with wrong keys",
    metric: ({ logs }) => logs.metric("ForbiddenRequests"),
  },
  "rate-limiter-open": {
    periods: [2, 2, 5],
    means:
      "The rate limiter cannot use the table and lets requests pass: one account can take the capacity of all others.",
    first: "The cause, in the log of the functions.",
    metric: ({ api, logs }) => always("line", logs.lines(logEvents.rateLimiterFailedOpen, ...api.handlers)),
  },
  "invalid-items": {
    means:
      "A reader left out a stored item that no code of the service writes: an attacker may control a function.",
    first: "Which items, in the logs of the functions.",
    metric: ({ functions, logs }) => {
      // An alarm can read ten metrics. Other functions also read the items that deliver-message reads.
      const readers = functions.filter(({ name }) => name !== "deliver-message");
      return always("line", logs.lines(logEvents.invalidItem, ...readers));
    },
  },
  "certificate-expiry": {
    threshold: 30,
    unit: "days",
    required: true,
    periods: [1, 1, 24 * 60],
    means:
      "The certificate of the custom domain expires in less than 30 days or has expired: clients cannot connect without a valid one.",
    first: "Whether AWS renews it.",
    metric: ({ api }) => api.certificate?.metricDaysToExpiry(),
  },
  canary: {
    severity: "page",
    required: true,
    periods: [2, 3, 5],
    means:
      "The canary did not succeed for ten minutes: callers outside cannot use a route, totals are wrong, or the canary itself does not run.",
    first: "Its last errors, and a request of your own from outside AWS.",
    fromOutside:
      "Nothing except what also keeps others from the API: ten minutes above `throttleRate` or the quota of Lambda",
    metric: ({ canary }) =>
      canary &&
      new MathExpression({
        // Without `TIME_SERIES(0)`, CloudWatch would evaluate older values in place of a missing one for a while.
        expression: "runs - failures + TIME_SERIES(0)",
        usingMetrics: {
          runs: canary.runner.lambda.metricInvocations(),
          failures: canary.runner.lambda.metricErrors(),
        },
      }),
  },
  "gateway-throttles": {
    periods: [2, 2, 5],
    means: "All accounts together exceed the stage's throttle: the gateway returns 429 to any of them.",
    first: "The requests by account.",
    fromOutside: "Anybody, above `throttleRate` or `throttleBurst`",
    metric: ({ logs }) => logs.metric("ThrottledRequests"),
  },
  "function-throttles": {
    threshold: 80,
    unit: "%",
    periods: [2, 2, 5],
    means:
      "Lambda throttled a function of the API (100 %), or all functions of the AWS account use 80 % of its concurrent executions: callers get 5xx, and counts and events are late.",
    first: "Which functions use the concurrent executions, on Lambda's automatic dashboard.",
    fromOutside:
      "More requests at once than 80 % of Lambda's environments. The default of 1,000 is less than the `throttleBurst` of prod",
    metric: ({ api }) =>
      new MathExpression({
        expression: "IF(throttles > 0, 100, 100 * used / SERVICE_QUOTA(used) + TIME_SERIES(0))",
        usingMetrics: {
          throttles: throttles([api.authorizer, ...api.handlers]),
          used: concurrentExecutions,
        },
      }),
  },
  "background-throttles": {
    section: "function-throttles",
    periods: [2, 2, 5],
    means:
      "Lambda throttled a function that no request waits for: counts and events are late, or checks are missed.",
    first: "Which functions use the concurrent executions, on Lambda's automatic dashboard.",
    fromOutside: "As for `function-throttles`",
    metric: ({ api, functions }) =>
      throttles(functions.filter((fn) => fn !== api.authorizer && !api.handlers.includes(fn))),
  },
  "table-read-throttles": {
    ...tableThrottlesAlarm,
    means: "DynamoDB throttles reads: lists and messages of the busiest accounts are slow or are refused.",
    fromOutside: "More than 3,000 R a second of one partition key",
    metric: ({ table }) =>
      faultsDuring(table.metricConsumedReadCapacityUnits(total), table.metricThrottleEvents("Read")),
  },
  "table-write-throttles": {
    ...tableThrottlesAlarm,
    means: "DynamoDB throttles writes: leads and messages of the busiest accounts are slow or are refused.",
    fromOutside: "More than 1,000 W a second of one partition key",
    metric: ({ table }) =>
      faultsDuring(table.metricConsumedWriteCapacityUnits(total), table.metricThrottleEvents("Write")),
  },
  "counting-late": {
    severity: "page",
    means:
      "Changes are counted five minutes late, or nothing counts them: lists cost more every minute, and show operators' changes late.",
    first: "Counts that failed, in the log of maintain-counts, then the event source mapping.",
    metric: (resources) => late(resources.counting.maintainer, resources),
  },
  "counts-wrong": {
    means:
      "Counts were damaged, corrected or given up, or rows were written nearly too late for them: lists of the account in the log may have returned 503 or wrong totals.",
    first: "Which lines were logged, then the failure queue of maintain-counts.",
    metric: (resources) => {
      const { counting, logs } = resources;
      const { maintainer, auditor } = counting;
      return always("sign", [
        maintainer.failures.metricApproximateNumberOfMessagesVisible(maximum),
        ...logs.lines(logEvents.lateWrites, maintainer.fn),
        ...logs.lines(logEvents.countsGivenUp, maintainer.fn, auditor),
        ...logs.lines(logEvents.countsRepaired, auditor),
        ...logs.lines(logEvents.countsDamaged, maintainer.fn, auditor, ...routesOf("GET", resources)),
      ]);
    },
  },
  "audit-late": {
    required: true,
    periods: [1, 1, 6 * 60],
    means:
      "Counts were last verified two weeks ago, or the audit does not run: wrong totals are not repaired.",
    first: "The log of audit-counts: a line every hour.",
    metric: ({ logs }) =>
      new MathExpression({
        // Hours until two rounds of the audit are missed.
        expression: `${14 * 24} - oldest`,
        usingMetrics: { oldest: logs.metric("AuditAge", maximum) },
      }),
  },
  "events-late": {
    severity: "page",
    means:
      "Events are published five minutes late, nothing publishes them, or one was given up: messages that callers sent reach no channel.",
    first: "The log of publish-events, then its event source mapping and its failure queue.",
    metric: (resources) => {
      const { failures } = resources.events.publisher;
      return late(resources.events.publisher, resources, [
        failures.metricApproximateNumberOfMessagesVisible(maximum),
      ]);
    },
  },
  "undelivered-messages": {
    means:
      "Messages of WhatsApp or Instagram were given up or wait for an hour, Meta refuses a sender or its token, or a webhook could not be stored.",
    first: "Which accounts and why, in the log of deliver-message, then that of receive-webhook.",
    fromOutside: "An account that revokes its token, or sends more to one lead than Meta accepts",
    metric: ({ channels, logs }) => {
      if (!channels) return undefined;
      const { receiver, deliveries, undelivered } = channels;
      return always("sign", [
        new MathExpression({
          expression: "age >= 3600",
          usingMetrics: { age: deliveries.metricApproximateAgeOfOldestMessage() },
        }),
        undelivered.metricApproximateNumberOfMessagesVisible(maximum),
        logs.metric("RefusedSenders"),
        receiver.lambda.metricErrors(),
      ]);
    },
  },
  "new-version-errors": {
    periods: [1, 3, 1],
    rollsBack: true,
    means: "A new version of a function crashes or times out: its requests fail with 5xx.",
    first: "The last errors of the functions.",
    fromOutside: "Nothing except a bug that a request triggers",
    metric: ({ deployment }) => deployment && always("error", deployment.metricErrors()),
  },
};

/** Every alarm, in the order of the runbook's table. `npm run generate` writes that table. */
export const alarms = Object.entries(definitions).map(([name, alarm]) => ({
  name,
  section: name,
  ...defaults,
  ...alarm,
}));
