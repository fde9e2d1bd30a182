import { execFileSync } from "node:child_process";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import type { Template } from "aws-cdk-lib/assertions";
import { expect, test } from "vitest";
import { alarms as definitions } from "../../../lib/monitoring/alarm-definitions.ts";
import { type TestSettings, withEveryAlarm } from "../../support/stack/stage-files.ts";
import { synthesize } from "../../support/stack/synthesize.ts";

/** A metric that an alarm reads, or an expression of such metrics. */
interface Metric {
  readonly Id: string;
  readonly Expression?: string;
  readonly ReturnData?: boolean;
  readonly MetricStat?: {
    readonly Metric: {
      readonly Namespace: string;
      readonly MetricName: string;
      readonly Dimensions?: readonly { readonly Name: string; readonly Value: unknown }[];
    };
    readonly Stat: string;
    readonly Period: number;
  };
}

/** Every alarm of a stack with its metrics and expressions, by its name without the stack's name before it. */
const readAlarms = (template: Template) =>
  new Map(
    Object.values(template.findResources("AWS::CloudWatch::Alarm")).map(({ Properties: properties }) => {
      const { AlarmName, Statistic: Stat, Period } = properties;
      const only = { Id: "metric", ReturnData: true, MetricStat: { Metric: properties, Stat, Period } };
      const metrics: readonly Metric[] = properties.Metrics ?? [only];
      const name = String(AlarmName).replace(/^leads-and-conversations-(?:dev|prod)-/, "");
      return [name, { properties, metrics }] as const;
    }),
  );

const readMetrics = ({ metrics }: { readonly metrics: readonly Metric[] }) =>
  metrics.flatMap(({ MetricStat }) => MetricStat ?? []);

const topic = "arn:aws:sns:eu-west-1:123456789012:";
const alarmsTo = { page: `${topic}page`, ticket: `${topic}ticket` };
const runbookUrl = "https://wiki.example.com/operations";
const others = { account: "123456789012", region: "eu-west-1", alarmsTo, runbookUrl };
const { template, functions } = await synthesize("prod", { ...withEveryAlarm, ...others });
const alarms = readAlarms(template);
const root = join(import.meta.dirname, "../../..");
const page = await readFile(join(root, "docs/operations.md"), "utf8");

test("docs/operations.md has a section for each alarm", () => {
  expect([...alarms.keys()]).toEqual(definitions.map(({ name }) => name));
  const sections = [...page.matchAll(/^### (.+)$/gm)].map(([, name]) => name);
  for (const { section } of definitions) expect(sections).toContain(section);
});

test("Each alarm has the threshold, the periods, the topic and the description of its definition, and also reports its end", () => {
  for (const { name, section, severity, required, threshold, periods, means, first } of definitions) {
    const alarm = alarms.get(name) ?? { properties: undefined, metrics: [] };
    const [breaching, evaluated, minutes] = periods;
    expect([name, alarm.properties]).toMatchObject([
      name,
      {
        Threshold: threshold,
        ComparisonOperator: required ? "LessThanThreshold" : "GreaterThanOrEqualToThreshold",
        DatapointsToAlarm: breaching,
        EvaluationPeriods: evaluated,
        TreatMissingData: required ? "breaching" : "ignore",
        AlarmActions: [alarmsTo[severity]],
        OKActions: [alarmsTo[severity]],
        AlarmDescription: `${means} First: ${first} Runbook: ${runbookUrl}#${section}`,
      },
    ]);
    for (const { Period } of readMetrics(alarm)) expect([name, Period]).toEqual([name, 60 * minutes]);
  }
});

const lists = ["list-leads", "list-conversations"];
const writes = ["create-lead", "send-message"];
const inOrder = ["list-leads", "create-lead", "list-conversations", "send-message"];
const ofChannels = ["deliver-message", "receive-webhook"];
const shifted = ["authorize", ...inOrder, "maintain-counts", "publish-events", ...ofChannels];
const background = ["maintain-counts", "audit-counts", "publish-events", ...ofChannels, "canary"];

/** The sum of a metric over some names, which replace the `*` in its text. */
const sum = (metric: string, names: readonly string[]) =>
  names.map((name) => `{${metric.replace("*", name)}}`).join(" + ");

/** The percentage of bad requests, or 0 while there are fewer than a minimum. */
const percentage = (bad: string, all: string, atLeast: number) =>
  `IF(${bad} + 0 * {${all}} >= ${atLeast}, 100 * (${bad}) / {${all}}, 0)`;

const failures = (name: string) =>
  percentage(`{request failed ${name}} + {${name} Errors}`, `${name} Invocations`, 1);

const slowCalls = (name: string) =>
  percentage(`{${name} Duration TC(1000:30000)}`, `${name} Duration SampleCount`, 5);

const highest = (expressions: readonly string[]) =>
  `MAX([${expressions.map((expression) => `(${expression})`).join(", ")}])`;

/** 1 for a fault. Else 0 if batches were read in this or the previous period. Else 1 if callers wrote in the previous one. */
const late = (reader: string, faults = "") => {
  const old = `({${reader} IteratorAge Maximum} + TIME_SERIES(0) >= 300000)`;
  const done = `({${reader} IteratorAge SampleCount} + TIME_SERIES(0))`;
  const work = `(${sum("request *", writes)} + TIME_SERIES(0))`;
  const rest = `IF(2 * ${done} - DIFF(${done}) > 0, 0, IF(${work} - DIFF(${work}) > 0, 1))`;
  return `IF((${old}${faults} + TIME_SERIES(0)) > 0, 1, ${rest})`;
};

const tableThrottles = (kind: "Read" | "Write") => {
  const indexes = ["by-status", "by-label", "by-status-and-label", "by-parent", "by-activity", "by-waiting"];
  const all = ["Table", ...indexes.map((index) => `${index} Table`)];
  return `${sum(`* ${kind}ThrottleEvents`, all)} + 0 * {Table Consumed${kind}CapacityUnits}`;
};

const concurrent = "{None ConcurrentExecutions Lambda Resource ResourceCount Maximum}";
const failureQueue = (name: string) =>
  `{${name}Failures.QueueName ApproximateNumberOfMessagesVisible Maximum}`;

/** What each alarm compares with its threshold. */
const expressions: Readonly<Record<string, string>> = {
  "server-errors-authorize": failures("authorize"),
  "server-errors-lists": highest(lists.map(failures)),
  "server-errors-writes": highest(writes.map(failures)),
  "slow-answers": highest(inOrder.map(slowCalls)),
  "error-budget": percentage(
    "({ApiHttpApi $default 5xx} - {FrozenRequests})",
    "ApiHttpApi $default Count",
    5,
  ),
  "forbidden-requests": "{ForbiddenRequests}",
  "rate-limiter-open": `${sum("rate limiter failed open *", inOrder)} + TIME_SERIES(0)`,
  "invalid-items": `${sum("invalid item *", ["authorize", ...inOrder, ...background.filter((name) => name !== "deliver-message")])} + TIME_SERIES(0)`,
  "certificate-expiry": `{${withEveryAlarm.certificateArn} DaysToExpiry Minimum}`,
  canary: "{canary Invocations} - {canary Errors} + TIME_SERIES(0)",
  "gateway-throttles": "{ThrottledRequests}",
  "function-throttles": `IF((${sum("* Throttles", ["authorize", ...inOrder])} + TIME_SERIES(0)) > 0, 100, 100 * ${concurrent} / SERVICE_QUOTA(${concurrent}) + TIME_SERIES(0))`,
  "background-throttles": `${sum("* Throttles", background)} + TIME_SERIES(0)`,
  "table-read-throttles": tableThrottles("Read"),
  "table-write-throttles": tableThrottles("Write"),
  "counting-late": late("maintain-counts"),
  "counts-wrong": [
    failureQueue("Counting"),
    "{late writes maintain-counts}",
    sum("counts given up *", ["maintain-counts", "audit-counts"]),
    "{counts repaired audit-counts}",
    sum("counts damaged *", ["maintain-counts", "audit-counts", ...lists]),
    "TIME_SERIES(0)",
  ].join(" + "),
  "audit-late": "336 - {AuditAge Maximum}",
  "events-late": late("publish-events", ` + ${failureQueue("Events")}`),
  "undelivered-messages":
    "({ChannelsDeliveries.QueueName ApproximateAgeOfOldestMessage Maximum} >= 3600) + {ChannelsUndelivered.QueueName ApproximateNumberOfMessagesVisible Maximum} + {RefusedSenders} + {receive-webhook Errors} + TIME_SERIES(0)",
  "new-version-errors": `${shifted.map((name) => `{new version ${name} ${name.replace("-", "")}Function:live Errors}`).join(" + ")} + TIME_SERIES(0)`,
};

/** A value of the template as text. References become logical ids. */
function flatten(value: unknown): string {
  if (typeof value === "string") return value;
  const { Ref, "Fn::GetAtt": attribute, "Fn::Join": join } = value as Record<string, string[]>;
  return join ? [join[1]].flat().map(flatten).join("") : String(Ref ?? attribute?.join("."));
}

/** The name of a function or a resource. Logical ids end with a hash; that of a version changes with the code. */
const nameOf = (text: string) =>
  functions.get(text) ??
  text
    .replace(/^\w+CurrentVersion\w+\.Version$/, "new version")
    .replace(/(?<=[a-z])[0-9A-F]{8}(?=$|[.:])/, "");

/** An expression with its metrics in braces, each with the names of its dimensions. A sum has no statistic. */
function textOf({ Expression = "", MetricStat }: Metric, metrics: readonly Metric[]): string {
  if (MetricStat) {
    const { Metric, Stat } = MetricStat;
    const dimensions = (Metric.Dimensions ?? []).map(({ Value }) => nameOf(flatten(Value)));
    return `{${[...dimensions, Metric.MetricName, ...(Stat === "Sum" ? [] : [Stat])].join(" ")}}`;
  }
  // The functions of CloudWatch have capital letters.
  return Expression.replaceAll(/\b[a-z]\w*/g, (id) =>
    metrics
      .filter(({ Id }) => Id === id)
      .map((inner) => (inner.MetricStat ? textOf(inner, metrics) : `(${textOf(inner, metrics)})`))
      .join(),
  );
}

test.each([...alarms])("%s compares these metrics with its threshold", (name, { metrics }) => {
  const compared = metrics.filter(({ ReturnData }) => ReturnData).map((metric) => textOf(metric, metrics));
  expect(compared).toEqual([expressions[name]]);
});

test("Each metric has the namespace and the dimensions under which it is published", () => {
  const published = [...alarms.values()]
    .flatMap(readMetrics)
    .map(({ Metric: { Namespace, Dimensions = [] } }) =>
      [Namespace, ...Dimensions.map(({ Name }) => Name)].join(" "),
    );
  expect([...new Set(published)].sort()).toEqual([
    "AWS/ApiGateway ApiId Stage",
    "AWS/CertificateManager CertificateArn",
    "AWS/DynamoDB GlobalSecondaryIndexName TableName",
    "AWS/DynamoDB TableName",
    "AWS/Lambda ExecutedVersion FunctionName Resource",
    "AWS/Lambda FunctionName",
    "AWS/SQS QueueName",
    "AWS/Usage Class Resource Service Type",
    "leads-and-conversations-prod",
    "leads-and-conversations-prod Event",
  ]);
});

test("The shell function `query` reads the log group of its second argument, or by default the logs of the functions", () => {
  const aws =
    'aws() { case "$*" in *Function*) echo groups ;; *start-query*) echo "$4" >&2 ;; esac }; sleep() { :; }';
  const functions = "stack=leads-and-conversations-prod; . docs/operations/shell.sh";
  const script = `exec 2>&1; ${aws}; ${functions}; query fields "$access_log"; query fields`;
  const [log] = Object.values(template.findResources("AWS::Logs::LogGroup")).filter(({ Properties }) =>
    String(Properties.LogGroupName).startsWith("/aws/vendedlogs/http-apis/"),
  );
  expect(execFileSync("/bin/sh", ["-c", script], { cwd: root, encoding: "utf8" })).toBe(
    `${log?.Properties.LogGroupName}\ngroups\n`,
  );
});

test("Nothing from outside raises an alarm that pages somebody", () => {
  for (const { severity, fromOutside } of definitions)
    if (severity === "page") expect(fromOutside).toMatch(/^Nothing/);
});

test("Each alarm reads at most ten metrics, CloudWatch's limit, all from its own account and region and in any unit", () => {
  for (const [name, alarm] of alarms) {
    expect([name, readMetrics(alarm).length <= 10]).toEqual([name, true]);
    expect(JSON.stringify(alarm.properties)).not.toMatch(/"(?:AccountId|Unit|ActionsEnabled)"/);
  }
});

test("A stage that does not keep its data has alarms only with a topic, or to roll back a deployment", async () => {
  const count = async (settings: TestSettings) =>
    readAlarms((await synthesize("dev", settings)).template).size;
  const told = definitions.length - 4;
  expect([await count({}), await count({ alarmsTo })]).toEqual([0, told]);
  expect(await count({ deployment: "canary" })).toBe(told + 1);
});

test("docs/deploying.md has the price of the metrics that the alarms of prod read", async () => {
  const metrics = [...readAlarms((await synthesize("prod")).template).values()].flatMap(readMetrics).length;
  const costs = await readFile(join(root, "docs/deploying.md"), "utf8");
  expect(costs).toContain(
    `| Alarms: metrics that they read | 0.10 † each | ${metrics} | ${(metrics / 10).toFixed(2)} |`,
  );
});

test("Alarms notify nobody by default, and link to docs/operations.md", async () => {
  for (const { properties } of readAlarms((await synthesize("prod")).template).values()) {
    expect(Object.keys(properties)).not.toContain("AlarmActions");
    expect(properties.AlarmDescription).toContain(" Runbook: docs/operations.md#");
  }
});
