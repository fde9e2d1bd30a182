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
const ofApi = (name: string, statistic = "Sum") =>
  `AWS/ApiGateway ${name} ApiId ${id("AWS::ApiGatewayV2::Api")} Stage $default ${statistic} of 300 s`;
const ofFunction = (name: FunctionName, metric: string, statistic = "Sum") =>
  `AWS/Lambda ${metric} FunctionName ${functionId(name)} ${statistic} of 300 s`;
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

const served: FunctionName[] = ["authorize", ...Object.values(routes).map(({ name }) => name)];
const pipeFaults = ["Failed", "PartiallyFailed", "Throttled", "Timeout"].map((name) => `Execution${name}`);
const every: FunctionName[] = [...served, ...functionNames.filter((name) => !served.includes(name))];

/** Every alarm. `docs/operations.md` says why; with missing data that is ignored, a raised alarm stays raised. */
const expected: Readonly<Record<string, Definition>> = {
  "server-errors": [
    ...([">= 1 in 1 of 1", "ignore"] as const),
    "IF(errors + 0 * requests >= 5, 100 * errors / requests, 0)",
    ...[ofApi("5xx"), ofApi("Count")],
  ],
  "slow-answers": [
    ...([">= 1000 in 3 of 3", "ignore", "IF(requests >= 100, latency, 0)"] as const),
    ...[ofApi("Latency", "p99"), ofApi("Count")],
  ],
  "authorizer-errors": during(">= 5 in 1 of 1", ofFunction("authorize", "Invocations"), [
    ofFunction("authorize", "Errors"),
  ]),
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
  "gateway-throttles": persistent(ofLogs("ThrottledRequests")),
  "function-throttles": during(
    ">= 1 in 2 of 2",
    ofApi("Count"),
    every.map((name) => ofFunction(name, "Throttles")),
  ),
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
      ">= 1 in 1 of 1",
      "notBreaching",
      "metric0 + metric1 + metric2 + metric3 + metric4 + metric5 + metric6",
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
