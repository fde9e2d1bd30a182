import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { only, synthesize } from "../../support/synthesize.ts";
import { readAlarms, withEveryAlarm } from "./support/alarms.ts";

const { template } = await synthesize("prod", withEveryAlarm);
const alarms = readAlarms(template);
const names = [...alarms.keys()];
const runbook = await readFile(join(import.meta.dirname, "../../../docs/operations.md"), "utf8");
const anchors = [...runbook.matchAll(/^#+ (.+)$/gm)].map(([, heading = ""]) =>
  heading
    .toLowerCase()
    .replaceAll(/[^\w -]/g, "")
    .replaceAll(" ", "-"),
);

test.each(names)("The runbook has the section that %s links to after one sentence", (name) => {
  const [, link] =
    /^[^.]+\. Runbook: docs\/operations\.md#(\S+)$/.exec(alarms.get(name)?.AlarmDescription ?? "") ?? [];
  expect(link).toBe(name);
  expect(anchors).toContain(link);
});

test.each(
  names,
)("The section of %s says what it means, where to look, what to do and when to wake someone", (name) => {
  const [, section = ""] = runbook.split(`\n### ${name}\n`);
  const [text = ""] = section.split(/^##/m);
  const parts = [...text.matchAll(/^\*\*(.+?)\*\*: /gm)].map(([, part]) => part);
  expect(parts).toEqual(["Means", "Look first", "Do", "Wake someone"]);
});

test("Every internal link of the runbook leads to a section", () => {
  const links = [...runbook.matchAll(/\]\(#([^)]+)\)/g)].map(([, link]) => link);
  expect(links.length).toBeGreaterThan(0);
  expect(links.filter((link = "") => !anchors.includes(link))).toEqual([]);
});

test("Alarms and dashboard link to a runbook that is published elsewhere", async () => {
  const runbookUrl = "https://wiki.example.com/leads/operations";
  const { template: changed } = await synthesize("prod", { runbookUrl });
  for (const [name, { AlarmDescription }] of readAlarms(changed)) {
    expect(AlarmDescription).toMatch(new RegExp(`\\. Runbook: ${runbookUrl}#${name}$`));
  }
  expect(JSON.stringify(only(changed, "AWS::CloudWatch::Dashboard"))).toContain(runbookUrl);
});
