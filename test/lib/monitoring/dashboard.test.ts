import { expect, test } from "vitest";
import manifest from "../../../package.json" with { type: "json" };
import { only, synthesize } from "../../support/synthesize.ts";
import { flatten, readAlarms } from "./support/alarms.ts";

const { template, functions } = await synthesize("prod");
const dashboard = only(template, "AWS::CloudWatch::Dashboard").properties;

interface Widget {
  readonly width: number;
  readonly y: number;
  readonly properties: {
    readonly title?: string;
    readonly markdown?: string;
    readonly alarms?: string[];
    readonly annotations?: { readonly alarms: string[] };
    readonly metrics?: (string | { readonly label: string; readonly stat: string })[][];
    readonly query?: string;
  };
}

const { start, widgets } = JSON.parse(flatten(dashboard.DashboardBody)) as {
  start: string;
  widgets: Widget[];
};

const alarmNames = new Map(
  Object.entries(template.findResources("AWS::CloudWatch::Alarm")).map(([id, { Properties }]) => [
    `${id}.Arn`,
    String(Properties.AlarmName).replace("leads-and-conversations-prod-", ""),
  ]),
);

test("the dashboard has the alarms, what callers meet, the functions, each alarm's metric, and the latest errors", () => {
  expect([dashboard.DashboardName, start]).toEqual(["leads-and-conversations-prod", "-PT3H"]);
  const titles = [...Map.groupBy(widgets, ({ y }) => y).values()].map((row) =>
    row.map(({ properties }) => properties.title),
  );
  const names = [...alarmNames.values()];
  expect(titles.slice(0, 4)).toEqual([
    [undefined],
    ["Alarms"],
    ["Requests and errors", "Latency (ms)", "Table: consumed capacity units"],
    ["Functions: p99 duration (ms)", "Functions: concurrent executions", "Events: p99 pipe duration (ms)"],
  ]);
  expect(titles.slice(4, -1).flat()).toEqual(names);
  expect(titles.at(-1)).toEqual(["Latest errors of the functions"]);
  expect(widgets[0]?.properties.markdown).toBe(
    `**leads-and-conversations-prod** Release ${manifest.version}+ab12cd3. What each alarm means and what to do: docs/operations.md`,
  );
});

test("it shows the state and the metric of every alarm", () => {
  const named = (ids: string[]) => ids.map((id) => alarmNames.get(id)).sort();
  const all = [...readAlarms(template).keys()].sort();
  expect(named(widgets.flatMap(({ properties }) => properties.alarms ?? []))).toEqual(all);
  const graphs = widgets.filter(({ properties }) => properties.annotations);
  for (const { properties } of graphs)
    expect(named(properties.annotations?.alarms ?? [])).toEqual([properties.title]);
  expect(graphs).toHaveLength(all.length);
});

test("each line shows what its label or the title says: a percentile, the highest number at once, or a sum", () => {
  const lines = widgets.flatMap(({ properties: { title = "", metrics = [] } }) =>
    metrics.map((metric) => {
      const options = metric.find((part) => typeof part === "object");
      return { title, name: metric[1], ...options };
    }),
  );
  expect(lines).toHaveLength(3 + 3 + 2 + 2 * functions.size + 1);
  for (const { title, name, label = "", stat } of lines) {
    const [percentile] = /\bp\d+\b/.exec(label) ?? /\bp\d+\b/.exec(title) ?? [];
    const expected = percentile ?? (name === "ConcurrentExecutions" ? "Maximum" : "Sum");
    expect([title, label, stat]).toEqual([title, label, expected]);
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
