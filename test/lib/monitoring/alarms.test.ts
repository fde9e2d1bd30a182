import { expect, test } from "vitest";
import { type FunctionName, functionNames } from "../../../lib/bundling/bundle.ts";
import { indexes } from "../../../shared/dynamodb/keys.ts";
import { routes } from "../../../shared/routes.ts";
import { only, synthesize } from "../../support/synthesize.ts";
import { type Alarm, readAlarms, readMetrics, withEveryAlarm } from "./support/alarms.ts";

const stackName = "leads-and-conversations-prod";
const { template, functions } = await synthesize("prod", withEveryAlarm);
const alarms = readAlarms(template);

const id = (type: string, construct?: string) => only(template, type, construct).id;
const functionId = (name: FunctionName) => [...functions].find(([, other]) => other === name)?.[0];

/** Metrics as `readMetrics` writes them, by default sums of five minutes. */
const ofLogs = (name: string) => `${stackName} ${name} Sum of 300 s`;
const ofApi = (name: string, seconds = 300) =>
  `AWS/ApiGateway ${name} ApiId ${id("AWS::ApiGatewayV2::Api")} Stage $default Sum of ${seconds} s`;
const ofFunction = (name: FunctionName, metric: string, statistic = "Sum", seconds = 300) =>
  `AWS/Lambda ${metric} FunctionName ${functionId(name)} ${statistic} of ${seconds} s`;
const ofMapping = (name: string) =>
  `AWS/Lambda ${name} EventSourceMappingUUID ${id("AWS::Lambda::EventSourceMapping")} Sum of 300 s`;
const ofPipe = (name: string) => `AWS/EventBridge/Pipes ${name} PipeName ${stackName} Sum of 300 s`;
const ofQueue = (construct: string) =>
  `AWS/SQS ApproximateNumberOfMessagesVisible QueueName ${id("AWS::SQS::Queue", construct)}.QueueName Maximum of 300 s`;
const table = () => `TableName ${id("AWS::DynamoDB::Table")} Sum of 300 s`;
const tableThrottles = (kind: "Read" | "Write") => [
  `AWS/DynamoDB ${kind}ThrottleEvents ${table()}`,
  ...Object.keys(indexes).map(
    (index) => `AWS/DynamoDB ${kind}ThrottleEvents GlobalSecondaryIndexName ${index} ${table()}`,
  ),
];

/** The errors of the version that requests shift to. */
function ofNewVersion(name: FunctionName): string {
  const fn = functionId(name);
  const [version] = Object.keys(
    template.findResources("AWS::Lambda::Version", { Properties: { FunctionName: { Ref: fn } } }),
  );
  return `AWS/Lambda Errors ExecutedVersion ${version}.Version FunctionName ${fn} Resource ${fn}:live Sum of 60 s`;
}

/** What raises an alarm, how missing data counts, the expression with ids of metrics, and the metrics. */
type Definition = readonly [condition: string, missing: string, expression: string, ...metrics: string[]];

const once = (threshold: number, metric: string): Definition => [
  ...([`>= ${threshold} in 1 of 1`, "ignore", "metric", metric] as const),
];
const persistent = (metric: string): Definition => [">= 1 in 2 of 2", "ignore", "metric", metric];

/** Faults, which are 0 only while something happens: without activity there is no data, and the alarm stays. */
const during = (condition: string, activity: string, faults: readonly string[]): Definition => [
  ...([condition, "ignore"] as const),
  `${faults.map((_, n) => `fault${n} + `).join("")}0 * activity`,
  ...[...faults, activity],
];

/** Work that callers gave in the period before, without each sign in that period or this one that it was done. */
const undone = (...signs: readonly string[]): Definition => [
  ...([">= 1 in 1 of 1", "ignore"] as const),
  [
    `IF(${signs.map((_, n) => `(2 * done${n} - DIFF(done${n}))`).join(" * ")} > 0, 0, IF(work - DIFF(work) > 0, 1))`,
    ...signs.map((_, n) => `done${n} = sign${n}_0 + TIME_SERIES(0)`),
    "work = given0 + given1 + TIME_SERIES(0)",
  ].join("; "),
  ...[...signs, ofLogs("LeadsCreated"), ofLogs("MessagesSent")],
];

/** New writes of a route, of which a stage with a canary has some in each run. */
const writesStopped = (metric: string): Definition => [
  ...(["< 1 in 2 of 3", "breaching", "written0 + TIME_SERIES(0)"] as const),
  ofLogs(metric),
];

/** The percentage of requests that failed, in two of the last three periods. */
const serverErrors = (all: string, ...failed: readonly string[]): Definition => {
  const bad = failed.map((_, n) => `bad${n}`).join(" + ");
  return [
    ...([">= 1.44 in 2 of 3", "ignore"] as const),
    `IF(${bad} + 0 * all >= 1, 100 * (${bad}) / all, 0)`,
    ...[...failed, all],
  ];
};

const slowAnswers = (name: FunctionName): Definition => [
  ...([">= 3 in 1 of 1", "ignore", "IF(bad0 + 0 * all >= 5, 100 * (bad0) / all, 0)"] as const),
  ofFunction(name, "Duration", "TC(1000:30000)", 3600),
  ofFunction(name, "Duration", "SampleCount", 3600),
];

const served: FunctionName[] = ["authorize", ...Object.values(routes).map(({ name }) => name)];
const pipeFaults = ["Failed", "PartiallyFailed", "Throttled", "Timeout"].map((name) => `Execution${name}`);
const every: FunctionName[] = [...served, ...functionNames.filter((name) => !served.includes(name))];

/** Every alarm. `docs/operations.md` says why; with missing data that is ignored, a raised alarm stays raised. */
const expected: Readonly<Record<string, Definition>> = {
  ...Object.fromEntries(
    served.map((name) => [
      `server-errors-${name}`,
      serverErrors(
        ofFunction(name, "Invocations"),
        ...(name === "authorize" ? [] : [ofLogs(`FailedRequests-${name}`)]),
        ofFunction(name, "Errors"),
      ),
    ]),
  ),
  "server-errors-gateway": serverErrors(ofApi("Count"), ofLogs("GatewayFailures")),
  ...Object.fromEntries(served.slice(1).map((name) => [`slow-answers-${name}`, slowAnswers(name)])),
  "error-budget": [
    ...([">= 0.3 in 1 of 1", "ignore", "IF(bad0 + 0 * all >= 5, 100 * (bad0) / all, 0)"] as const),
    ...[ofApi("5xx", 21_600), ofApi("Count", 21_600)],
  ],
  "forbidden-requests": once(100, ofLogs("ForbiddenRequests")),
  "rate-limiter-open": persistent(ofLogs("RateLimitFailures")),
  "malformed-items": once(1, ofLogs("MalformedItems")),
  "certificate-expiry": [
    ...(["< 30 in 1 of 1", "breaching", "metric"] as const),
    `AWS/CertificateManager DaysToExpiry CertificateArn ${withEveryAlarm.certificateArn} Minimum of 86400 s`,
  ],
  canary: [
    ...(["< 1 in 2 of 3", "breaching", "runs - failures + TIME_SERIES(0)"] as const),
    ...[ofFunction("canary", "Invocations"), ofFunction("canary", "Errors")],
  ],
  "writes-stopped-create-lead": writesStopped("LeadsCreated"),
  "writes-stopped-send-message": writesStopped("MessagesSent"),
  "gateway-throttles": persistent(ofLogs("ThrottledRequests")),
  "function-throttles": during(
    ">= 1 in 2 of 2",
    ofApi("Count"),
    every.map((name) => ofFunction(name, "Throttles")),
  ),
  "concurrency-near-quota": [
    ...([">= 80 in 2 of 2", "ignore", "100 * used / SERVICE_QUOTA(used) + TIME_SERIES(0)"] as const),
    `AWS/Usage ResourceCount Class None Resource ConcurrentExecutions Service Lambda Type Resource Maximum of 300 s`,
  ],
  "table-read-throttles": during(
    ">= 1 in 2 of 2",
    `AWS/DynamoDB ConsumedReadCapacityUnits ${table()}`,
    tableThrottles("Read"),
  ),
  "table-write-throttles": during(
    ">= 1 in 2 of 2",
    `AWS/DynamoDB ConsumedWriteCapacityUnits ${table()}`,
    tableThrottles("Write"),
  ),
  "stream-age": during(">= 300000 in 1 of 1", ofMapping("PolledEventCount"), [
    ofFunction("maintain-counts", "IteratorAge", "Maximum"),
  ]),
  "counting-stopped": undone(
    ofMapping("InvokedEventCount"),
    ofFunction("maintain-counts", "IteratorAge", "SampleCount"),
  ),
  "failure-queue": once(1, ofQueue("Counting")),
  "counts-damaged": once(1, ofLogs("DamagedCounts")),
  "counts-repaired": once(1, ofLogs("RepairedCounts")),
  "event-pipe-failures": during(">= 1 in 2 of 2", ofPipe("EventCount"), pipeFaults.map(ofPipe)),
  "events-stopped": undone(ofPipe("EventCount")),
  "event-failure-queue": once(1, ofQueue("Events")),
  // One that stayed raised without data would stop the next deployment.
  "new-version-errors": [
    ...([
      ">= 1 in 1 of 3",
      "ignore",
      "error0 + error1 + error2 + error3 + error4 + error5 + error6 + TIME_SERIES(0)",
    ] as const),
    ...[...served, "maintain-counts" as const, "compose-events" as const].map(ofNewVersion),
  ],
};

const operators: Readonly<Record<string, string>> = {
  GreaterThanOrEqualToThreshold: ">=",
  LessThanThreshold: "<",
};

function readDefinition(alarm: Alarm): Definition {
  const { ComparisonOperator, Threshold, DatapointsToAlarm, EvaluationPeriods, Metrics = [] } = alarm;
  const [first, ...others] = Metrics.filter(({ Expression }) => Expression !== undefined);
  return [
    `${operators[ComparisonOperator]} ${Threshold} in ${DatapointsToAlarm} of ${EvaluationPeriods}`,
    alarm.TreatMissingData,
    [first?.Expression ?? "metric", ...others.map(({ Id, Expression }) => `${Id} = ${Expression}`)].join(
      "; ",
    ),
    ...readMetrics(alarm).values(),
  ];
}

test("the stack has these alarms and no others", () => {
  expect([...alarms.keys()]).toEqual(Object.keys(expected));
});

test.each(
  Object.entries(expected),
)("%s is raised by its metrics, threshold, periods and missing data", (name, definition) => {
  const alarm = alarms.get(name);
  expect(alarm && readDefinition(alarm)).toEqual(definition);
  // The limit of CloudWatch.
  expect(alarm && readMetrics(alarm).size).toBeLessThanOrEqual(10);
});

test("each alarm reads metrics of its own AWS account and region, and is not switched off", async () => {
  const pinned = await synthesize("prod", {
    ...withEveryAlarm,
    account: "123456789012",
    region: "eu-west-1",
  });
  for (const [name, alarm] of [...alarms, ...readAlarms(pinned.template)]) {
    // A unit that no service reports would hide all data.
    expect([name, JSON.stringify(alarm)]).toEqual([
      name,
      expect.not.stringMatching(/"(?:AccountId|Unit|ActionsEnabled)"/),
    ]);
  }
});
