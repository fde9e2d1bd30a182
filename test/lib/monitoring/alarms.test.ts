import { describe, expect, test } from "vitest";
import { type FunctionName, functionNames } from "../../../lib/bundling/bundle.ts";
import { indexes } from "../../../shared/dynamodb/keys.ts";
import { routes } from "../../../shared/routes.ts";
import { only, synthesize } from "../../support/synthesize.ts";
import { evaluateAlarm, type Series } from "./support/alarm-evaluation.ts";
import { metricKey, readAlarms, readMetrics } from "./support/alarms.ts";
import { withEveryAlarm } from "./support/every-alarm.ts";
import type { Datapoint } from "./support/metric-math.ts";

const stackName = "leads-and-conversations-prod";
const { template, functions } = await synthesize("prod", withEveryAlarm);
const alarms = readAlarms(template);

const [minute, fiveMinutes, day] = [60, 300, 86_400];

const apiStage = { ApiId: { Ref: only(template, "AWS::ApiGatewayV2::Api").id }, Stage: "$default" };
const requests = metricKey("AWS/ApiGateway", "Count", apiStage, "Sum", fiveMinutes);
const serverErrors = metricKey("AWS/ApiGateway", "5xx", apiStage, "Sum", fiveMinutes);
const latency = metricKey("AWS/ApiGateway", "Latency", apiStage, "p99", fiveMinutes);
const gatewayThrottles = metricKey(stackName, "ThrottledRequests", {}, "Sum", fiveMinutes);

function functionMetric(fn: FunctionName, name: string, statistic: string, seconds: number): string {
  const [id] = [...functions].find(([, candidate]) => candidate === fn) ?? [];
  return metricKey("AWS/Lambda", name, { FunctionName: { Ref: id } }, statistic, seconds);
}

/** The errors of the version that requests shift to, of each function of the API. */
const newVersionErrors = (["authorize", ...Object.values(routes).map(({ name }) => name)] as const).map(
  (name) => {
    const [id = ""] = [...functions].find(([, candidate]) => candidate === name) ?? [];
    const [version = ""] = Object.keys(
      template.findResources("AWS::Lambda::Version", { Properties: { FunctionName: { Ref: id } } }),
    );
    const dimensions = {
      ExecutedVersion: { "Fn::GetAtt": [version, "Version"] },
      FunctionName: { Ref: id },
      Resource: { "Fn::Join": ["", [{ Ref: id }, ":live"]] },
    };
    return metricKey("AWS/Lambda", "Errors", dimensions, "Sum", minute);
  },
);

const authorizerErrors = functionMetric("authorize", "Errors", "Sum", fiveMinutes);
const authorizerCalls = functionMetric("authorize", "Invocations", "Sum", fiveMinutes);
const streamAge = functionMetric("maintain-counts", "IteratorAge", "Maximum", fiveMinutes);
const mapping = { EventSourceMappingUUID: { Ref: only(template, "AWS::Lambda::EventSourceMapping").id } };
const polls = metricKey("AWS/Lambda", "PolledEventCount", mapping, "Sum", fiveMinutes);
const damagedCounts = metricKey(stackName, "DamagedCounts", {}, "Sum", fiveMinutes);
const repairedCounts = metricKey(stackName, "RepairedCounts", {}, "Sum", fiveMinutes);
const functionThrottles = functionNames.map((name) => functionMetric(name, "Throttles", "Sum", fiveMinutes));

const TableName = { Ref: only(template, "AWS::DynamoDB::Table").id };
const tableThrottles = (kind: "Read" | "Write") =>
  [{}, ...Object.keys(indexes).map((name) => ({ GlobalSecondaryIndexName: name }))].map((index) =>
    metricKey("AWS/DynamoDB", `${kind}ThrottleEvents`, { TableName, ...index }, "Sum", fiveMinutes),
  );

const forbidden = metricKey(stackName, "ForbiddenRequests", {}, "Sum", fiveMinutes);
const limiterFailures = metricKey(stackName, "RateLimitFailures", {}, "Sum", fiveMinutes);
const daysToExpiry = metricKey(
  "AWS/CertificateManager",
  "DaysToExpiry",
  { CertificateArn: withEveryAlarm.certificateArn },
  "Minimum",
  day,
);

const leads = metricKey(stackName, "LeadsCreated", {}, "Sum", fiveMinutes);
const messages = metricKey(stackName, "MessagesSent", {}, "Sum", fiveMinutes);
const counted = metricKey("AWS/Lambda", "InvokedEventCount", mapping, "Sum", fiveMinutes);
const ages = functionMetric("maintain-counts", "IteratorAge", "SampleCount", fiveMinutes);
const published = metricKey(
  "AWS/EventBridge/Pipes",
  "EventCount",
  { PipeName: stackName },
  "Sum",
  fiveMinutes,
);

const tableUnits = (kind: "Read" | "Write") =>
  metricKey("AWS/DynamoDB", `Consumed${kind}CapacityUnits`, { TableName }, "Sum", fiveMinutes);

const pipeEvents = metricKey(
  "AWS/EventBridge/Pipes",
  "EventCount",
  { PipeName: stackName },
  "Sum",
  fiveMinutes,
);
const pipeFailures = ["Failed", "PartiallyFailed", "Throttled", "Timeout"].map((outcome) =>
  metricKey("AWS/EventBridge/Pipes", `Execution${outcome}`, { PipeName: stackName }, "Sum", fiveMinutes),
);

function queuedBatches(construct: string): string {
  const QueueName = { "Fn::GetAtt": [only(template, "AWS::SQS::Queue", construct).id, "QueueName"] };
  return metricKey("AWS/SQS", "ApproximateNumberOfMessagesVisible", { QueueName }, "Maximum", fiveMinutes);
}

type Cases = Readonly<Record<string, Series>>;

interface Behavior {
  /** Series that raise the alarm with their last values. */
  readonly raisedBy: Cases;
  readonly notRaisedBy: Cases;
  /** Series that raise the alarm and clear it with their last values. */
  readonly clearedBy: Cases;
}

const failures = (count: number[], of: number[]): Series => [
  [serverErrors, ...count],
  [requests, ...of],
];

const latencies = (milliseconds: number[], of: number[]): Series => [
  [latency, ...milliseconds],
  [requests, ...of],
];

/** No data. */
const no: Datapoint = undefined;

/** A metric that must reach a value once. */
const once = (metric: string, value: number): Behavior => ({
  raisedBy: { [`${value}`]: [[metric, 0, value]], more: [[metric, 0, 10 * value]] },
  notRaisedBy: { "one less": [[metric, value - 1, value - 1]] },
  clearedBy: { "one less in the next period": [[metric, value, value - 1]] },
});

/** A metric that must reach a value in two periods in a row. */
function twoInARow(metric: string, value: number): Behavior {
  const below = value - 1;
  return {
    raisedBy: {
      "two values": [[metric, below, value, value]],
      "two values with a gap": [[metric, below, value, no, value]],
    },
    notRaisedBy: {
      "one value, twice": [[metric, value, below, value, below]],
      "one less in every period": [[metric, below, below, below]],
    },
    clearedBy: { "one less in one period": [[metric, value, value, below]] },
  };
}

/**
 * Faults, of which any must reach 1 in two periods in a row.
 *
 * @param activity the metric that shows that there is no fault where a fault has no data
 */
function faultsInARow(faults: readonly string[], activity: string): Behavior {
  const [first = "", second = first] = faults;
  const { raisedBy, notRaisedBy, clearedBy } = twoInARow(first, 1);
  const each = faults.map((fault): [string, Series] => [fault, [[fault, 1, 1]]]);
  return {
    raisedBy: {
      ...raisedBy,
      ...Object.fromEntries(each),
      "two values beside activity": [
        [second, 1, 1],
        [activity, 9, 9],
      ],
      "two metrics in turn": [
        [first, 1, no],
        [second, no, 1],
      ],
    },
    notRaisedBy: {
      ...notRaisedBy,
      "a whole period of activity without faults between them": [
        [first, 1, no, 1],
        [activity, no, 9, no],
      ],
    },
    clearedBy: {
      ...clearedBy,
      "activity without faults": [
        [first, 1, 1, no],
        [activity, 9, 9, 9],
      ],
    },
  };
}

/** A metric that must reach a value in one period, and has no data without faults. */
const faultsOnce = (faults: string, activity: string, value: number): Behavior => ({
  raisedBy: {
    [`${value}`]: [[faults, 0, value]],
    "beside activity": [
      [faults, no, value],
      [activity, 1, 2 * value],
    ],
  },
  notRaisedBy: { "one less": [[faults, value - 1, value - 1]] },
  clearedBy: {
    "one less in the next period": [[faults, value, value - 1]],
    "activity without faults": [
      [faults, value, no],
      [activity, value, 1],
    ],
  },
});

/**
 * Work of callers that must be done in its period or the next one.
 *
 * @param signs the metrics that show that it is
 */
function workDone(signs: readonly string[]): Behavior {
  const [first = "", ...others] = signs;
  const done = (...values: Datapoint[]): Series => signs.map((sign) => [sign, ...values]);
  const busy: Datapoint[] = [5, 5, 5, 5];
  return {
    raisedBy: {
      "one message that is never done": [[messages, 0, 1, 0]],
      "one lead that is never done": [[leads, no, 1, no]],
      "a source that is disabled in the middle of traffic": [[messages, ...busy], ...done(5, 5, no, no)],
      "a source that reads nothing in the middle of traffic": [[leads, ...busy], ...done(5, 5, 0, 0)],
      ...Object.fromEntries(
        others.map((other) => [
          `traffic of which only ${other} shows something`,
          [
            [leads, 1, 1],
            [other, 1, 1],
          ],
        ]),
      ),
    },
    notRaisedBy: {
      "work that is done in its period": [[messages, 0, 1, 0, 0, 0], ...done(no, 1, no, no, no)],
      "work that is done in the next period": [[messages, 0, 1, 0, 0, 0], ...done(no, no, 1, no, no)],
      "requests that write nothing": [
        [messages, 0, 0, 0, 0],
        [leads, 0, 0, 0, 0],
      ],
      "changes by operators": done(7, no, 7, no),
    },
    clearedBy: {
      "a source that catches up": [[messages, 1, no, no, no], ...done(no, no, no, 1)],
      "traffic that is done": [[messages, 5, 5, 5, 5], ...done(no, no, no, 5)],
      ...Object.fromEntries(
        others.map((other) => [
          `${other} that comes back`,
          [
            [messages, 1, 1, 1],
            [first, 1, 1, 1],
            [other, no, no, 1],
          ],
        ]),
      ),
    },
  };
}

/** A metric that must always have a value of at least a threshold. */
const required = (metric: string, lowest: number): Behavior => ({
  raisedBy: { "a lower value": [[metric, lowest, lowest - 1]] },
  notRaisedBy: { "the lowest value": [[metric, lowest, lowest, lowest + 1]] },
  clearedBy: { "the lowest value": [[metric, lowest - 1, lowest]] },
});

const runs = functionMetric("canary", "Invocations", "Sum", fiveMinutes);
const failedRuns = functionMetric("canary", "Errors", "Sum", fiveMinutes);

const canaryRuns: Behavior = {
  raisedBy: {
    "runs that fail for ten minutes": [
      [runs, 1, 1, 3, 3],
      [failedRuns, 0, 0, 3, 3],
    ],
    "a failure every other time": [
      [runs, 1, 1, 1, 1],
      [failedRuns, 0, 1, 0, 1],
    ],
    "no runs": [[runs, 1, 1, no, no]],
  },
  notRaisedBy: {
    "runs that succeed": [
      [runs, 1, 1, 1],
      [failedRuns, 0, 0, 0],
    ],
    "a run that succeeds when it is repeated": [
      [runs, 1, 2, 2, 2],
      [failedRuns, 0, 1, 1, 1],
    ],
    "a late run": [
      [runs, 1, 1, no, 1, 2, 1],
      [failedRuns, 0, 0, no, 0, 0, 0],
    ],
  },
  clearedBy: {
    "two runs that succeed": [
      [runs, 3, 3, 1, 1],
      [failedRuns, 3, 3, 0, 0],
    ],
  },
};

/** Every alarm with the metric values that raise it, do not raise it, and clear it. */
const behaviors: Readonly<Record<string, Behavior>> = {
  "server-errors": {
    raisedBy: {
      "1 % of the requests": failures([9, 10], [1000, 1000]),
      "five failures of five requests": failures([0, 5], [5, 5]),
    },
    notRaisedBy: {
      "less than 1 %": failures([10], [1001]),
      "four failures of four requests": failures([4], [4]),
    },
    clearedBy: {
      "requests without failures": failures([5], [5, 1]),
      "less than 1 %": failures([10, 10], [1000, 1001]),
      "fewer than five failures": failures([5, 4], [5, 4]),
    },
  },
  "slow-answers": {
    raisedBy: { "one second in three periods": latencies([1000, 1000, 1000], [100, 100, 100]) },
    notRaisedBy: {
      "less than one second": latencies([999, 999, 999], [100, 100, 100]),
      "two of three periods": latencies([1000, 1000, 999, 1000], [100, 100, 100, 100]),
      "fewer than 100 requests": latencies([9000, 9000, 9000], [99, 99, 99]),
    },
    clearedBy: {
      "less than one second": latencies([1000, 1000, 1000, 999], [100, 100, 100, 100]),
      "fewer than 100 requests": latencies([1000, 1000, 1000, 1000], [100, 100, 100, 99]),
    },
  },
  "authorizer-errors": faultsOnce(authorizerErrors, authorizerCalls, 5),
  "forbidden-requests": once(forbidden, 100),
  "rate-limiter-open": twoInARow(limiterFailures, 1),
  "malformed-items": once(metricKey(stackName, "MalformedItems", {}, "Sum", fiveMinutes), 1),
  "certificate-expiry": required(daysToExpiry, 30),
  canary: canaryRuns,
  "gateway-throttles": twoInARow(gatewayThrottles, 1),
  "function-throttles": faultsInARow(functionThrottles, requests),
  "table-read-throttles": faultsInARow(tableThrottles("Read"), tableUnits("Read")),
  "table-write-throttles": faultsInARow(tableThrottles("Write"), tableUnits("Write")),
  "stream-age": faultsOnce(streamAge, polls, 300_000),
  "counting-stopped": workDone([counted, ages]),
  "failure-queue": once(queuedBatches("Counting"), 1),
  "counts-damaged": once(damagedCounts, 1),
  "counts-repaired": once(repairedCounts, 1),
  "event-pipe-failures": faultsInARow(pipeFailures, pipeEvents),
  "events-stopped": workDone([published]),
  "event-failure-queue": once(queuedBatches("Events"), 1),
  "new-version-errors": {
    raisedBy: Object.fromEntries(
      newVersionErrors.map((errors, index) => [`one error of function ${index}`, [[errors, 0, 1]]]),
    ),
    notRaisedBy: { "requests without errors": newVersionErrors.map((errors) => [errors, 0, 0]) },
    clearedBy: {
      "requests without errors": newVersionErrors.map((errors) => [errors, 1, 0]),
    },
  },
};

/** All others are about what callers do, and nobody may call at night. */
const alarmsThatRequireData = ["certificate-expiry", "canary"];

/** Those that would stop the next deployment if they stayed raised. */
const alarmsThatEndWithoutData = ["new-version-errors"];

test("Every alarm has cases that raise it, do not raise it, and clear it", () => {
  expect(Object.keys(behaviors)).toEqual([...alarms.keys()]);
  for (const cases of Object.values(behaviors).flatMap((behavior) => Object.values<Cases>({ ...behavior }))) {
    expect(Object.keys(cases)).not.toEqual([]);
  }
});

describe.each(Object.entries(behaviors))("%s", (name, { raisedBy, notRaisedBy, clearedBy }) => {
  const alarm = alarms.get(name);
  if (!alarm) throw new Error(`The stack has no alarm ${name}.`);
  const metrics = [...readMetrics(alarm).values()];
  const requiresData = alarmsThatRequireData.includes(name);
  const silence: Datapoint[] = Array(30).fill(no);

  /** The states by a series. An alarm that requires data had the first values before, so that it is not new. */
  const evaluateSeries = (series: Series, extraDatapoints?: number) => {
    const before = requiresData ? 3 : 0;
    const extended = series.map(([metric, ...values]): Series[number] => [
      metric,
      ...Array<Datapoint>(before).fill(values[0]),
      ...values,
    ]);
    return evaluateAlarm(alarm, extended, extraDatapoints).slice(before);
  };

  test.each(Object.entries(raisedBy))("is raised by %s", (_, series) => {
    for (const extraDatapoints of [1, 2, 5, 10]) {
      const states = evaluateSeries(series, extraDatapoints);
      expect(states.pop()).toBe("ALARM");
      expect(states).not.toContain("ALARM");
    }
  });

  test.each(Object.entries(notRaisedBy))("is not raised by %s", (_, series) => {
    for (const extraDatapoints of [1, 2, 5, 10]) {
      expect(evaluateSeries(series, extraDatapoints)).not.toContain("ALARM");
    }
  });

  test.each(Object.entries(clearedBy))("is cleared by %s", (_, series) => {
    for (const extraDatapoints of [1, 2, 5, 10])
      expect(evaluateSeries(series, extraDatapoints).slice(-2)).toEqual(["ALARM", "OK"]);
  });

  const end = alarmsThatEndWithoutData.includes(name) ? "ends" : "stays raised";
  test.each(Object.entries(raisedBy))(`${end} if its sources are disabled after %s`, (_, series) => {
    const followed: Series = series.map(([metric, ...values]) => [metric, ...values, ...silence]);
    for (const extraDatapoints of [2, 5, 10]) {
      const states = evaluateSeries(followed, extraDatapoints);
      const raised = states.slice(states.indexOf("ALARM"));
      expect([raised.includes("OK"), raised.at(-1)]).toEqual(
        end === "ends" ? [true, "OK"] : [false, "ALARM"],
      );
    }
  });

  test(`is ${requiresData ? "" : "not "}raised by silence`, () => {
    const series: Series = metrics.map((metric) => [metric, ...silence]);
    expect(evaluateAlarm(alarm, series).includes("ALARM")).toBe(requiresData);
  });

  test("reads only metrics that have a case", () => {
    const fed = Object.values(raisedBy).flatMap((series) => series.map(([metric]) => metric));
    expect(new Set(metrics)).toEqual(new Set(fed));
  });
});

test("Each alarm reads metrics of its own AWS account and region, and is not switched off", async () => {
  const pinned = { account: "123456789012", region: "eu-west-1" };
  for (const settings of [withEveryAlarm, { ...withEveryAlarm, ...pinned }]) {
    const { template: stack } = await synthesize("prod", settings);
    for (const [name, { ActionsEnabled, Metrics = [], ...alarm }] of readAlarms(stack)) {
      expect([name, ActionsEnabled ?? true]).toEqual([name, true]);
      for (const { AccountId } of Metrics) expect([name, AccountId]).toEqual([name, undefined]);
      // A unit that no service reports would hide all data.
      expect(JSON.stringify([alarm, Metrics])).not.toContain('"Unit"');
    }
  }
});

test("Each alarm has at most ten metrics, the limit of CloudWatch", () => {
  for (const alarm of alarms.values()) expect(readMetrics(alarm).size).toBeLessThanOrEqual(10);
});
