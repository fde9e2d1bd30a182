import { execFileSync } from "node:child_process";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { runbookRows } from "../../../lib/monitoring/runbook.ts";
import { synthesize } from "../../support/synthesize.ts";
import { readAlarms, readMetrics, withEveryAlarm } from "./support/alarms.ts";

const topic = "arn:aws:sns:eu-west-1:123456789012:";
const alarmsTo = { wake: `${topic}wake`, look: `${topic}look` };
const pinned = { account: "123456789012", region: "eu-west-1" };
const { template } = await synthesize("prod", { ...withEveryAlarm, ...pinned, alarmsTo });
const alarms = readAlarms(template);
const page = await readFile(join(import.meta.dirname, "../../../docs/operations.md"), "utf8");
const table = page.split("\n").filter((line) => /^\| \[.* \| (wake|look) \|/.test(line));

test("Each row of the runbook's table is an alarm, and each alarm a row that has a section", () => {
  expect([...runbookRows.keys()]).toEqual([...alarms.keys()]);
  expect(table).toHaveLength(alarms.size);
  const sections = [...page.matchAll(/^### (.+)$/gm)].map(([, name]) => name);
  for (const { section } of runbookRows.values()) expect(sections).toContain(section);
});

test("The shell function query reads the access log that its second argument names, and else the logs of the functions", () => {
  const [, functions] = /```sh\n(output\(\).*?)```/s.exec(page) ?? [];
  const aws =
    'aws() { case "$*" in *Function*) echo groups ;; *start-query*) echo "$4" >&2 ;; esac }; sleep() { :; }';
  const script = `exec 2>&1; ${aws}\n${functions}query fields "$access_log"; query fields`;
  const [log] = Object.values(template.findResources("AWS::Logs::LogGroup")).filter(({ Properties }) =>
    String(Properties.LogGroupName).startsWith("/aws/vendedlogs/http-apis/"),
  );
  expect(execFileSync("/bin/sh", ["-c", script], { encoding: "utf8" })).toBe(
    `${log?.Properties.LogGroupName}\ngroups\n`,
  );
});

test("An alarm notifies the topic of its row when it is raised and when it ends, with what the row says", () => {
  for (const [name, { severity, description, section }] of runbookRows)
    expect([name, alarms.get(name)]).toMatchObject([
      name,
      {
        AlarmDescription: `${description} Runbook: docs/operations.md#${section}`,
        AlarmActions: [alarmsTo[severity]],
        OKActions: [alarmsTo[severity]],
      },
    ]);
});

test("Nothing from outside raises an alarm that wakes somebody", () => {
  for (const row of table) if (row.includes(" | wake |")) expect(row).toMatch(/ \| Nothing[^|]* \|$/);
});

test("Each alarm reads at most ten metrics, a limit of CloudWatch, of its own account and region, in any unit", () => {
  for (const [name, alarm] of alarms) {
    expect([name, readMetrics(alarm).size <= 10]).toEqual([name, true]);
    expect(JSON.stringify(alarm)).not.toMatch(/"(?:AccountId|Unit|ActionsEnabled)"/);
  }
});

test("By default alarms notify nobody; one topic gets all of them; they link to a published runbook", async () => {
  for (const alarm of readAlarms((await synthesize("prod")).template).values())
    expect(Object.keys(alarm)).not.toContain("AlarmActions");
  const settings = { alarmsTo: alarmsTo.look, runbookUrl: "https://wiki.example.com/operations" };
  for (const alarm of readAlarms((await synthesize("prod", settings)).template).values())
    expect(alarm).toMatchObject({
      AlarmActions: [alarmsTo.look],
      AlarmDescription: expect.stringContaining(" Runbook: https://wiki.example.com/operations#"),
    });
});
