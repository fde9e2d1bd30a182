import { expect, test } from "vitest";
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
      "Counting: stream age (ms, left), failure queue, stalled rebuilds (right)",
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

/** Metrics that have a size, and not a number of times. */
const sizes = ["ConcurrentExecutions", "IteratorAge", "ApproximateNumberOfMessagesVisible"];

test("Each line of a graph shows what its title or its label says: a percentile, the highest size, or a sum", () => {
  const lines = widgets.flatMap(({ properties: { title = "", metrics = [] } }) =>
    metrics.map((metric) => {
      const { label = "", ...options } = metric.findLast((part) => typeof part === "object") as {
        readonly label?: string;
      };
      return { title, name: String(metric[1]), label, options };
    }),
  );
  expect(lines.length).toBeGreaterThan(30);
  for (const { title, name, label, options } of lines) {
    const [percentile] = /\bp\d+\b/.exec(label) ?? /\bp\d+\b/.exec(title) ?? [];
    const stat = percentile ?? (sizes.includes(name) ? "Maximum" : "Sum");
    const { yAxis, ...others } = { yAxis: "left", ...options };
    // Of this AWS account and region, with the period that fits the time shown.
    expect([title, label, others]).toEqual([title, label, { stat }]);
  }
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
