import { expect, test } from "vitest";
import { only, synthesize } from "../../support/synthesize.ts";

const { template, functions } = await synthesize("prod");
const dashboard = only(template, "AWS::CloudWatch::Dashboard").properties;

/** A value of the template as text, with the logical ids of what it refers to. */
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

/** The names and dimensions of all metrics that are shown. */
const shown = widgets.flatMap(({ properties: { metrics = [] } }) =>
  metrics.map((metric) => metric.filter((part) => typeof part === "string").join(" ")),
);

/** The metrics that raise alarms, written alike. */
const resources = Object.values(template.findResources("AWS::CloudWatch::Alarm")).flatMap(
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

test("The dashboard has the stack's name and these rows, of full width", () => {
  expect(dashboard.DashboardName).toBe("leads-and-conversations-prod");
  const rows = Map.groupBy(widgets, ({ y }) => y);
  expect([...rows.values()].map((row) => row.map(({ properties }) => properties.title))).toEqual([
    [undefined],
    ["Alarms"],
    ["Requests: all, and those that were refused", "Latency (ms)", "What was done"],
    [
      "Functions: errors (left), throttles (right)",
      "Functions: p99 of the duration (ms)",
      "Functions: how many at once",
    ],
    [
      "Table: units read and written",
      "Table: throttled",
      "Counting: age of the stream (ms, left), batches given up (right)",
    ],
    [
      "Events: new items that the pipe took up",
      "Events: batches that failed (left), given up (right)",
      "Events: p99 of a batch's way through the pipe (ms)",
    ],
    ["The last errors of the functions"],
  ]);
  for (const row of rows.values()) {
    expect(row.reduce((width, widget) => width + widget.width, 0)).toBe(24);
  }
});

test("Every alarm is on it, and every metric that raises one", () => {
  const alarms = Object.keys(template.findResources("AWS::CloudWatch::Alarm")).map((id) => `${id}.Arn`);
  expect(widgets.flatMap(({ properties }) => properties.alarms ?? [])).toEqual(alarms);
  expect(resources.length).toBeGreaterThan(alarms.length);
  expect(resources.filter((metric) => !shown.includes(metric))).toEqual([]);
});

test("Every metric that is counted from the logs is on it", () => {
  const counted = Object.values(template.findResources("AWS::Logs::MetricFilter")).map(
    ({ Properties }) => Properties.MetricTransformations[0].MetricName,
  );
  expect(counted.length).toBeGreaterThan(0);
  for (const name of counted) expect(shown).toContain(`leads-and-conversations-prod ${name}`);
});

test("The last errors come from the log of every function", () => {
  const { query = "" } = widgets.at(-1)?.properties ?? {};
  const groups = [...functions.keys()].map(
    (id) => template.findResources("AWS::Lambda::Function")[id]?.Properties.LoggingConfig.LogGroup.Ref,
  );
  for (const group of groups) expect(query).toContain(`SOURCE '${group}'`);
  expect(query).toContain('filter level = "ERROR"');
});
