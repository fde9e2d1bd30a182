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
  expect(query).toContain('filter level = "ERROR"');
});
