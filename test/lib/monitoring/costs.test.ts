import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { synthesize } from "../../support/synthesize.ts";
import { readAlarms, readMetrics } from "./support/alarms.ts";
import { withEveryAlarm } from "./support/every-alarm.ts";

const page = (await readFile(join(import.meta.dirname, "../../../docs/deploying.md"), "utf8")).replaceAll(
  /\s+/g,
  " ",
);
const { template } = await synthesize("prod");

/** How many metrics the alarms read: AWS charges for each. */
const countMetrics = (of: typeof template) =>
  [...readAlarms(of).values()].reduce((count, alarm) => count + readMetrics(alarm).size, 0);

/** The numbers that the pattern finds in the page. */
const stated = (pattern: RegExp) => pattern.exec(page)?.slice(1).map(Number);

test("deploying.md says what the alarms cost", async () => {
  const [prod, dev] = [countMetrics(template), countMetrics((await synthesize("dev")).template)];
  expect(stated(/Those of prod read (\d+) metrics, those of dev (\d+), .*?: ([\d.]+) a month/)).toEqual([
    prod,
    dev,
    prod / 10,
  ]);
  expect(countMetrics((await synthesize("prod", withEveryAlarm)).template)).toBe(prod + 1);
});

test("deploying.md says what the metrics from the logs cost", () => {
  const names = Object.values(template.findResources("AWS::Logs::MetricFilter")).map(
    ({ Properties }) => Properties.MetricTransformations[0].MetricName,
  );
  const { size } = new Set(names);
  expect(stated(/each of the (\d+) that are counted from the logs, ([\d.]+)/)).toEqual([
    size,
    expect.closeTo(0.3 * size),
  ]);
});
