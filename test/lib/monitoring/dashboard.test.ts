import { expect, test } from "vitest";
import { indexes } from "../../../shared/dynamodb/keys.ts";
import { only, synthesize } from "../../support/synthesize.ts";

const { template, functions } = await synthesize("prod");
const dashboard = only(template, "AWS::CloudWatch::Dashboard").properties;

/** A value of the template as text. References become logical ids. */
function flatten(value: unknown): string {
  if (typeof value === "string") return value;
  const { Ref, "Fn::GetAtt": path } = value as { Ref?: string; "Fn::GetAtt"?: string[] };
  return Ref ?? (path ?? []).join(".");
}

interface Widget {
  readonly type: string;
  readonly width: number;
  readonly x: number;
  readonly y: number;
  readonly properties: {
    readonly title?: string;
    readonly alarms?: string[];
    readonly metrics?: (string | object)[][];
    readonly query?: string;
  };
}

const { widgets } = JSON.parse(dashboard.DashboardBody["Fn::Join"][1].map(flatten).join("")) as {
  widgets: Widget[];
};

/** The names and dimensions of all metrics on the dashboard. */
const shown = widgets.flatMap(({ properties: { metrics = [] } }) =>
  metrics.map((metric) => metric.filter((part) => typeof part === "string").join(" ")),
);

/** The metrics of the alarms, in the same format. */
const alarmMetrics = Object.values(template.findResources("AWS::CloudWatch::Alarm")).flatMap(
  ({ Properties }) => {
    const { Metrics = [{ MetricStat: { Metric: Properties } }] } = Properties;
    return Metrics.flatMap(({ MetricStat }: { MetricStat?: { Metric: typeof Properties } }) => {
      if (!MetricStat) return [];
      const { Namespace, MetricName, Dimensions = [] } = MetricStat.Metric;
      const dimensions = Dimensions.flatMap(({ Name, Value }: { Name: string; Value: unknown }) => [
        Name,
        flatten(Value),
      ]);
      return [[Namespace, MetricName, ...dimensions].join(" ")];
    });
  },
);

test("The dashboard has the stack's name and these rows of full width", () => {
  expect(dashboard.DashboardName).toBe("leads-and-conversations-prod");
  const rows = Map.groupBy(widgets, ({ y }) => y);
  expect([...rows.values()].map((row) => row.map(({ properties }) => properties.title))).toEqual([
    [undefined],
    ["Alarms"],
    ["Requests, errors and rate limits", "Latency (ms)", "Leads, messages and replays"],
    [
      "Functions: errors (left), throttles (right)",
      "Functions: p99 duration (ms)",
      "Functions: concurrent executions",
    ],
    [
      "Table: consumed capacity units",
      "Table: throttled requests",
      "Counting: stream age (ms, left), failure queue, damage, repairs, malformed items (right)",
    ],
    [
      "Stream: records read by the pipe and by counting",
      "Events: failed batches (left), failure queue (right)",
      "Events: p99 pipe duration (ms)",
    ],
    ["Latest errors of the functions"],
  ]);
  for (const row of rows.values()) {
    expect(row.reduce((width, widget) => width + widget.width, 0)).toBe(24);
  }
});

test("The dashboard shows every alarm and every metric of an alarm", () => {
  const alarms = Object.keys(template.findResources("AWS::CloudWatch::Alarm")).map((id) => `${id}.Arn`);
  expect(widgets.flatMap(({ properties }) => properties.alarms ?? [])).toEqual(alarms);
  expect(alarmMetrics.length).toBeGreaterThan(alarms.length);
  expect(alarmMetrics.filter((metric) => !shown.includes(metric))).toEqual([]);
});

interface Line {
  readonly label?: string;
  readonly yAxis?: string;
}

/** The lines of each graph: the name of the metric, its label if it has one, its axis, and all its other options. */
const graphs = widgets.flatMap(({ properties: { title = "", metrics } }) =>
  metrics
    ? [
        {
          title,
          lines: metrics.map((metric) => {
            const options = metric.findLast((part) => typeof part === "object") as Line;
            const { label, yAxis = "left", ...others } = options;
            return { name: String(metric[1]), label: label ?? String(metric[1]), yAxis, others };
          }),
        },
      ]
    : [],
);

const everyFunction = [...functions.values()];
const throttled = ["the table", ...Object.keys(indexes)];

/** The labels of the lines on each axis. */
const labels: Readonly<Record<string, readonly [left: readonly string[], right?: readonly string[]]>> = {
  "Requests, errors and rate limits": [
    [
      ...["All", "4xx", "5xx", "Calls of the authorizer", "Runs of the canary"],
      ...[
        "RateLimitedRequests",
        "TooManyAtOnceRequests",
        "RateLimitFailures",
        "ThrottledRequests",
        "ForbiddenRequests",
      ],
    ],
  ],
  "Latency (ms)": [["p50", "p99", "p99 of the functions"]],
  "Leads, messages and replays": [["LeadsCreated", "MessagesSent", "ReplayedRequests"]],
  "Functions: errors (left), throttles (right)": [everyFunction, everyFunction],
  "Functions: p99 duration (ms)": [everyFunction],
  "Functions: concurrent executions": [everyFunction],
  "Table: consumed capacity units": [["Read", "Write"]],
  "Table: throttled requests": [
    ["Reads", "Writes"].flatMap((kind) => throttled.map((name) => `${kind} of ${name}`)),
  ],
  "Counting: stream age (ms, left), failure queue, damage, repairs, malformed items (right)": [
    ["Age"],
    ["Batches", "DamagedCounts", "RepairedCounts", "MalformedItems"],
  ],
  "Stream: records read by the pipe and by counting": [
    ["Pipe: new items", "Counting: all changes", "Counting: leads and conversations"],
  ],
  "Events: failed batches (left), failure queue (right)": [
    ["Failed", "Partially failed", "Throttled", "Timed out"],
    ["Batches"],
  ],
  "Events: p99 pipe duration (ms)": [["p99"]],
};

// The CDK leaves out a line that has the metric and the statistic of another one.
test("Each graph has all of its lines, each on its axis", () => {
  const found = graphs.map(({ title, lines }) => {
    const on = (axis: string) => lines.filter(({ yAxis }) => yAxis === axis).map(({ label }) => label);
    return [title, { left: on("left").sort(), right: on("right").sort() }];
  });
  expect(Object.fromEntries(found)).toEqual(
    Object.fromEntries(
      Object.entries(labels).map(([title, [left, right = []]]) => [
        title,
        { left: [...left].sort(), right: [...right].sort() },
      ]),
    ),
  );
});

/** Metrics that have a size, and not a number of times. */
const sizes = ["ConcurrentExecutions", "IteratorAge", "ApproximateNumberOfMessagesVisible"];

test("Each line shows what its label or the title says: a percentile, the highest size, or a sum", () => {
  for (const { title, lines } of graphs) {
    for (const { name, label, others } of lines) {
      const [percentile] = /\bp\d+\b/.exec(label) ?? /\bp\d+\b/.exec(title) ?? [];
      const stat = percentile ?? (sizes.includes(name) ? "Maximum" : "Sum");
      // Of this AWS account and region, with the period that fits the time shown.
      expect([title, label, others]).toEqual([title, label, { stat }]);
    }
  }
});

test("The dashboard shows three hours, and says where the runbook is", () => {
  const body = JSON.parse(dashboard.DashboardBody["Fn::Join"][1].map(flatten).join(""));
  expect(body.start).toBe("-PT3H");
  expect(body.widgets[0].properties.markdown).toBe(
    "**leads-and-conversations-prod** What each alarm means and what to do: docs/operations.md",
  );
});

test("The dashboard shows every metric that is counted from the logs", () => {
  const counted = Object.values(template.findResources("AWS::Logs::MetricFilter")).map(
    ({ Properties }) => Properties.MetricTransformations[0].MetricName,
  );
  expect(counted.length).toBeGreaterThan(0);
  for (const name of counted) expect(shown).toContain(`leads-and-conversations-prod ${name}`);
});

test("The latest errors come from the log of every function", () => {
  const { query = "" } = widgets.at(-1)?.properties ?? {};
  const groups = [...functions.keys()].map(
    (id) => template.findResources("AWS::Lambda::Function")[id]?.Properties.LoggingConfig.LogGroup.Ref,
  );
  for (const group of groups) expect(query).toContain(`SOURCE '${group}'`);
  expect(query.slice(query.indexOf("fields ")).split("\n| ")).toEqual([
    "fields @timestamp, message.event, message.code, message.requestId, message.cause.name, @message",
    'filter level = "ERROR"',
    "sort @timestamp desc",
    "limit 20",
  ]);
});
