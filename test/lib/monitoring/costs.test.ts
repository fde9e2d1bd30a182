import { readFile } from "node:fs/promises";
import { join } from "node:path";
import type { Template } from "aws-cdk-lib/assertions";
import { expect, test } from "vitest";
import { synthesize } from "../../support/synthesize.ts";
import { readAlarms, readMetrics, withEveryAlarm } from "./support/alarms.ts";

const page = await readFile(join(import.meta.dirname, "../../../docs/deploying.md"), "utf8");
const [, section = ""] = page.split("## What a stage costs that nobody uses");
const { template: prod } = await synthesize("prod");
const { template: dev } = await synthesize("dev");

/** The numbers of a row of the table: the price, then the count and the cost of prod and of dev. */
const row = (name: string) =>
  [...(section.match(`\\| \\**${name}.*`)?.[0] ?? "").matchAll(/[\d,.]*\d/g)].map(([text]) =>
    Number(text.replaceAll(",", "")),
  );

/** How many metrics the alarms read: AWS charges for each. */
const countMetrics = (template: Template) =>
  [...readAlarms(template).values()].reduce((count, alarm) => count + readMetrics(alarm).size, 0);

const countLogMetrics = (template: Template) =>
  new Set(
    Object.values(template.findResources("AWS::Logs::MetricFilter")).map(
      ({ Properties }) => Properties.MetricTransformations[0].MetricName,
    ),
  ).size;

const countDashboards = (template: Template) =>
  Object.keys(template.findResources("AWS::CloudWatch::Dashboard")).length;

test.each([
  ["Alarms", countMetrics],
  ["Metrics from the logs", countLogMetrics],
  ["Dashboards", countDashboards],
] as const)("deploying.md has the number and the price of: %s", (name, count) => {
  const [price = 0, inProd, cost, inDev] = row(name);
  expect([inProd, inDev]).toEqual([count(prod), count(dev)]);
  expect(cost).toBeCloseTo(price * count(prod));
});

test("A custom domain adds a metric to those of the alarms, and gradual deployments those that the page says", async () => {
  const { template } = await synthesize("prod", withEveryAlarm);
  const [, gradual] = /costs 0\.70 a month for the (\d+) metrics of its alarm/.exec(page) ?? [];
  expect(countMetrics(template)).toBe(countMetrics(prod) + 1 + Number(gradual));
});

test("The sums of the table are those of its rows", () => {
  const rows = ["Alarms", "Metrics from", "Dashboards", "Metrics of", "Runs of"].map(row);
  const sum = (column: number) => rows.reduce((total, cells) => total + (cells[column] ?? Number.NaN), 0);
  expect(row("Sum")).toEqual([expect.closeTo(sum(2)), expect.closeTo(sum(4))]);
});
