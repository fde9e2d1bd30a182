import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { only, synthesize } from "../../support/synthesize.ts";
import { type Alarm, readAlarms, withEveryAlarm } from "./support/alarms.ts";

const targets = {
  wake: "arn:aws:sns:eu-west-1:123456789012:wake",
  look: "arn:aws:sns:eu-west-1:123456789012:look",
};
const { template } = await synthesize("prod", { ...withEveryAlarm, alarmsTo: targets });
const alarms = readAlarms(template);
const runbook = await readFile(join(import.meta.dirname, "../../../docs/operations.md"), "utf8");
const anchors = [...runbook.matchAll(/^#+ (.+)$/gm)].map(([, heading = ""]) =>
  heading
    .toLowerCase()
    .replaceAll(/[^\w -]/g, "")
    .replaceAll(" ", "-"),
);

/** The section that an alarm links to. */
const sectionOf = ({ AlarmDescription }: Pick<Alarm, "AlarmDescription">) =>
  /^[^.]+\. Runbook: docs\/operations\.md#(\S+)$/.exec(AlarmDescription)?.[1] ?? "";

const severityOf = ({ AlarmActions }: Pick<Alarm, "AlarmActions">) =>
  AlarmActions?.[0] === targets.wake ? "wake" : "look";

/** The alarms with the same section are one row of the runbook's table. */
const sections = Map.groupBy(alarms.values(), sectionOf);

test("The runbook has the section that each alarm links to after one sentence, named like the alarm", () => {
  for (const [name, alarm] of alarms) {
    expect(anchors).toContain(sectionOf(alarm));
    expect(name.startsWith(sectionOf(alarm))).toBe(true);
  }
});

const hours = (seconds: number) => (seconds < 3600 ? `${seconds / 60} min` : `${seconds / 3600} h`);

/** When an alarm is raised, as the runbook's table has it. */
function condition(alarm: Alarm): string {
  const { ComparisonOperator, Threshold, DatapointsToAlarm: count, EvaluationPeriods: of, Metrics } = alarm;
  const period = alarm.Period ?? Metrics?.find(({ MetricStat }) => MetricStat)?.MetricStat?.Period ?? 0;
  const operator = ComparisonOperator === "LessThanThreshold" ? "<" : "≥";
  return `${operator} ${Threshold.toLocaleString("en")}, ${count} of ${of} × ${hours(period)}`;
}

test("The runbook's table has each alarm, its severity and its threshold, and nothing from outside raises one that wakes", () => {
  const [, table = ""] = /\n\| Alarm \| Severity .*\n.*\n((?:\|.*\n)+)/.exec(runbook) ?? [];
  const rows = table
    .trimEnd()
    .split("\n")
    .map((row) => row.slice(2, -2).split(" | "));
  const expected = [...sections].map(([section, [alarm]]) => [
    `[${section}](#${section})`,
    ...(alarm ? [severityOf(alarm), condition(alarm)] : []),
  ]);
  expect(rows.map((row) => row.slice(0, 3)).sort()).toEqual(expected.sort());
  for (const [alarm, severity, , fromOutside = ""] of rows)
    if (severity === "wake") expect([alarm, fromOutside]).toEqual([alarm, expect.stringMatching(/^Nothing/)]);
});

test("Alarms and dashboard link to a runbook that is published elsewhere", async () => {
  const runbookUrl = "https://wiki.example.com/leads/operations";
  const { template: changed } = await synthesize("prod", { runbookUrl });
  for (const [name, { AlarmDescription }] of readAlarms(changed)) {
    const [, section = "-"] = AlarmDescription.split(`. Runbook: ${runbookUrl}#`);
    expect(name.startsWith(section)).toBe(true);
  }
  expect(JSON.stringify(only(changed, "AWS::CloudWatch::Dashboard"))).toContain(runbookUrl);
});
