import { expect, test } from "vitest";
import manifest from "../../../package.json" with { type: "json" };
import { only, synthesize } from "../../support/synthesize.ts";
import { flatten, metricText, readAlarms } from "./support/alarms.ts";

const { template, functions } = await synthesize("prod");
const dashboard = only(template, "AWS::CloudWatch::Dashboard").properties;

interface Widget {
  readonly width: number;
  readonly y: number;
  readonly properties: {
    readonly title?: string;
    readonly markdown?: string;
    readonly alarms?: string[];
    readonly metrics?: (string | object)[][];
    readonly query?: string;
  };
}

const { start, widgets } = JSON.parse(flatten(dashboard.DashboardBody)) as {
  start: string;
  widgets: Widget[];
};

interface LineOptions {
  readonly label?: string;
  readonly yAxis?: string;
}

/** The lines of each graph: the metric with its dimensions, its label or name, its axis, and all other options. */
const lines = widgets.flatMap(({ properties: { title = "", metrics = [] } }) =>
  metrics.map((metric) => {
    const options = metric.findLast((part) => typeof part === "object") as LineOptions;
    const { label = String(metric[1]), yAxis = "left", ...others } = options;
    const text = metric.filter((part) => typeof part === "string").join(" ");
    return { title, text, name: String(metric[1]), label, yAxis, others };
  }),
);
const shown = lines.map(({ text }) => text);

// The CDK leaves out a line that has the metric and the statistic of another one.
test("the dashboard has these rows of full width, and each graph as many lines on its left and right axis", () => {
  expect([dashboard.DashboardName, start]).toEqual(["leads-and-conversations-prod", "-PT3H"]);
  const rows = [...Map.groupBy(widgets, ({ y }) => y).values()];
  const count = (title: string, axis: string) =>
    lines.filter((line) => line.title === title && line.yAxis === axis).length;
  const describe = ({ properties: { title = "", metrics } }: Widget) =>
    metrics ? [title, count(title, "left"), count(title, "right")] : title;
  expect(rows.map((row) => row.map(describe))).toEqual([
    [""],
    ["Alarms"],
    [
      ["Requests, errors and rate limits", 10, 0],
      ["Latency (ms)", 3, 0],
      ["Leads, messages, replays and failed requests", 7, 0],
    ],
    [
      ["Functions: errors (left), throttles (right)", 9, 9],
      ["Functions: p99 duration (ms, left), calls (right)", 9, 9],
      ["Concurrent executions: functions (left), AWS account (right)", 9, 1],
    ],
    [
      ["Table: consumed capacity units", 2, 0],
      ["Table: throttled requests", 10, 0],
      ["Counting: stream age (ms, left), failure queue, damage, repairs, malformed items (right)", 1, 4],
    ],
    [
      ["Stream: records read by the pipe and by counting", 3, 0],
      ["Events: failed batches (left), failure queue (right)", 4, 1],
      ["Events: p99 pipe duration (ms)", 1, 0],
    ],
    ["Latest errors of the functions"],
  ]);
  for (const row of rows) expect(row.reduce((width, widget) => width + widget.width, 0)).toBe(24);
  expect(widgets[0]?.properties.markdown).toBe(
    `**leads-and-conversations-prod** Release ${manifest.version}+ab12cd3. What each alarm means and what to do: docs/operations.md`,
  );
});

test("the dashboard shows every alarm, every metric of an alarm, and every metric from the logs", () => {
  const alarms = Object.entries(template.findResources("AWS::CloudWatch::Alarm"));
  const names = new Map(alarms.map(([id, { Properties }]) => [`${id}.Arn`, Properties.AlarmName]));
  expect(
    widgets
      .flatMap(({ properties }) => properties.alarms ?? [])
      .map((id) => names.get(id))
      .sort(),
  ).toEqual([...readAlarms(template).keys()].map((name) => `leads-and-conversations-prod-${name}`).sort());
  const read = alarms.flatMap(([, { Properties }]) => {
    const { Metrics = [{ MetricStat: { Metric: Properties } }] } = Properties;
    return Metrics.flatMap(({ MetricStat }: { MetricStat?: { Metric: typeof Properties } }) =>
      MetricStat ? [metricText(MetricStat.Metric)] : [],
    );
  });
  expect(read.length).toBeGreaterThan(alarms.length);
  expect(read.filter((metric) => !shown.includes(metric))).toEqual([]);
  const logged = Object.values(template.findResources("AWS::Logs::MetricFilter")).map(
    ({ Properties }) => Properties.MetricTransformations[0].MetricName,
  );
  expect(logged.filter((name) => !shown.includes(`leads-and-conversations-prod ${name}`))).toEqual([]);
});

/** Metrics that have a size, and not a number of times. */
const sizes = ["ConcurrentExecutions", "IteratorAge", "ApproximateNumberOfMessagesVisible", "ResourceCount"];

test("each line shows what its label or the title says: a percentile, the highest size, or a sum", () => {
  for (const { title, name, label, others } of lines) {
    const [percentile] =
      /\bp\d+\b/.exec(label) ?? (name === "Invocations" ? [] : (/\bp\d+\b/.exec(title) ?? []));
    const stat = percentile ?? (sizes.includes(name) ? "Maximum" : "Sum");
    // Of this AWS account and region, with the period that fits the time shown.
    expect([title, label, others]).toEqual([title, label, { stat }]);
  }
});

test("the latest errors come from the log of every function", () => {
  const { query = "" } = widgets.at(-1)?.properties ?? {};
  for (const id of functions.keys()) {
    const { Properties } = template.findResources("AWS::Lambda::Function")[id] ?? {};
    expect(query).toContain(`SOURCE '${Properties.LoggingConfig.LogGroup.Ref}'`);
  }
  expect(query).toContain('\n| filter level = "ERROR"\n| sort @timestamp desc\n');
});
