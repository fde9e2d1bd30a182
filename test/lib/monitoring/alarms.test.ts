import { expect, test } from "vitest";
import { type FunctionName, functionNames } from "../../../lib/bundling/bundle.ts";
import { activityIndex, indexes } from "../../../shared/dynamodb/keys.ts";
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
  ...[...Object.keys(indexes), activityIndex.name].map(
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

/**
 * How missing data counts, the expression with ids of metrics, and the metrics. `runbook.test.ts` compares the thresholds
 * with the runbook.
 */
type Definition = readonly [missing: string, expression: string, ...metrics: string[]];

const plain = (metric: string): Definition => ["ignore", "metric", metric];

/** Faults, which are 0 only while something happens: without activity there is no data, and the alarm stays. */
const during = (activity: string, faults: readonly string[]): Definition => [
  "ignore",
  `${faults.map((_, n) => `fault${n} + `).join("")}0 * activity`,
  ...[...faults, activity],
];

/** Work that callers gave in the period before, without each sign in that period or this one that it was done. */
const undone = (...signs: readonly string[]): Definition => [
  "ignore",
  [
    `IF(${signs.map((_, n) => `(2 * done${n} - DIFF(done${n}))`).join(" * ")} > 0, 0, IF(work - DIFF(work) > 0, 1))`,
    ...signs.map((_, n) => `done${n} = sign${n}_0 + TIME_SERIES(0)`),
    "work = given0 + given1 + TIME_SERIES(0)",
  ].join("; "),
  ...[...signs, ofLogs("LeadsCreated"), ofLogs("MessagesSent")],
];

/** The percentage of requests that failed. */
const serverErrors = (all: string, ...failed: readonly string[]): Definition => {
  const bad = failed.map((_, n) => `bad${n}`).join(" + ");
  return ["ignore", `IF(${bad} + 0 * all >= 1, 100 * (${bad}) / all, 0)`, ...[...failed, all]];
};

const slowAnswers = (name: FunctionName): Definition => [
  ...(["ignore", "IF(bad0 + 0 * all >= 5, 100 * (bad0) / all, 0)"] as const),
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
  ...Object.fromEntries(served.slice(1).map((name) => [`slow-answers-${name}`, slowAnswers(name)])),
  "error-budget": [
    ...(["ignore", "IF(bad0 + 0 * all >= 5, 100 * (bad0) / all, 0)"] as const),
    ...[ofApi("5xx", 21_600), ofApi("Count", 21_600)],
  ],
  "forbidden-requests": plain(ofLogs("ForbiddenRequests")),
  "rate-limiter-open": plain(ofLogs("RateLimitFailures")),
  "malformed-items": plain(ofLogs("MalformedItems")),
  "certificate-expiry": [
    ...(["breaching", "metric"] as const),
    `AWS/CertificateManager DaysToExpiry CertificateArn ${withEveryAlarm.certificateArn} Minimum of 86400 s`,
  ],
  canary: [
    ...(["breaching", "runs - failures + TIME_SERIES(0)"] as const),
    ...[ofFunction("canary", "Invocations"), ofFunction("canary", "Errors")],
  ],
  "gateway-throttles": plain(ofLogs("ThrottledRequests")),
  "function-throttles": during(
    ofApi("Count"),
    every.map((name) => ofFunction(name, "Throttles")),
  ),
  "concurrency-near-quota": [
    ...(["ignore", "100 * used / SERVICE_QUOTA(used) + TIME_SERIES(0)"] as const),
    `AWS/Usage ResourceCount Class None Resource ConcurrentExecutions Service Lambda Type Resource Maximum of 300 s`,
  ],
  "table-read-throttles": during(`AWS/DynamoDB ConsumedReadCapacityUnits ${table()}`, tableThrottles("Read")),
  "table-write-throttles": during(
    `AWS/DynamoDB ConsumedWriteCapacityUnits ${table()}`,
    tableThrottles("Write"),
  ),
  "stream-age": during(ofMapping("PolledEventCount"), [
    ofFunction("maintain-counts", "IteratorAge", "Maximum"),
  ]),
  "counting-stopped": undone(
    ofMapping("InvokedEventCount"),
    ofFunction("maintain-counts", "IteratorAge", "SampleCount"),
  ),
  "failure-queue": plain(ofQueue("Counting")),
  "late-writes": plain(ofLogs("LateWrites")),
  "counts-damaged": plain(ofLogs("DamagedCounts")),
  "audit-late": ["breaching", "336 - oldest", `${stackName} AuditAge Maximum of 21600 s`],
  "event-pipe-failures": during(ofPipe("EventCount"), pipeFaults.map(ofPipe)),
  "events-stopped": undone(ofPipe("EventCount")),
  "event-failure-queue": plain(ofQueue("Events")),
  // One that stayed raised without data would stop the next deployment.
  "new-version-errors": [
    ...(["ignore", "error0 + error1 + error2 + error3 + error4 + error5 + error6 + TIME_SERIES(0)"] as const),
    ...[...served, "maintain-counts" as const, "compose-events" as const].map(ofNewVersion),
  ],
};

function readDefinition(alarm: Alarm): Definition {
  const { Metrics = [] } = alarm;
  const [first, ...others] = Metrics.filter(({ Expression }) => Expression !== undefined);
  return [
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
)("%s is raised by its metrics, and by missing data or not", (name, definition) => {
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
