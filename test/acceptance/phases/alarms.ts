import {
  DescribeAlarmHistoryCommand,
  DescribeAlarmsCommand,
  type MetricAlarm,
  SetAlarmStateCommand,
} from "@aws-sdk/client-cloudwatch";
import type { AwsStage } from "../aws-stage.ts";
import { assumption, compared, type Finding, notSeen } from "../finding.ts";
import { type Acceptance, type Phase, poll } from "../phase.ts";

/** The alarms of a stage without the settings that add one. */
export const always = [
  "server-errors",
  "slow-answers",
  "authorizer-errors",
  "forbidden-requests",
  "malformed-items",
  "rate-limiter-open",
  "gateway-throttles",
  "function-throttles",
  "table-read-throttles",
  "table-write-throttles",
];

/** Each alarm, and whether raising it runs its action. Nothing harmless makes the metrics themselves breach. */
export const alarms: Phase = {
  name: "alarms",
  minutes: 2,
  needs: "aws",
  async *run(acceptance) {
    const { aws, note, signal } = acceptance as Acceptance & { aws: AwsStage };
    const all = await readAlarms(aws);
    const names = all.map(({ AlarmName = "" }) => AlarmName.slice(aws.stackName.length + 1));
    const missing = always.filter((name) => !names.includes(name));
    yield compared(
      { check: "The alarms of the stage", page: "docs/operations.md#alarms", expected: "all exist" },
      missing.length === 0 ? "all exist" : `missing: ${missing.join(", ")}`,
    );
    for (const alarm of all) {
      signal.throwIfAborted();
      note(`raising ${alarm.AlarmName}`);
      yield await raise(acceptance, aws, alarm);
    }
  },
};

async function readAlarms({ cloudWatch, stackName }: AwsStage): Promise<MetricAlarm[]> {
  const { MetricAlarms = [] } = await cloudWatch.send(
    new DescribeAlarmsCommand({
      AlarmNamePrefix: `${stackName}-`,
      AlarmTypes: ["MetricAlarm"],
      MaxRecords: 100,
    }),
  );
  return MetricAlarms;
}

/** How long CloudWatch may take to run an action, in milliseconds. */
const actionDelay = 30_000;

async function raise(acceptance: Acceptance, { cloudWatch }: AwsStage, alarm: MetricAlarm): Promise<Finding> {
  const { AlarmName = "", AlarmActions = [], ActionsEnabled, StateValue = "OK" } = alarm;
  const comparison = {
    check: `The action of the alarm ${AlarmName}`,
    page: assumption("alarm-actions"),
    expected: "succeeds",
  };
  const { settings } = acceptance;
  if (AlarmActions.length === 0)
    return settings?.alarmsTo === undefined
      ? notSeen(comparison, "the stage has no alarmsTo, so the alarm notifies nobody")
      : compared(comparison, "it has none");
  if (!ActionsEnabled) return compared(comparison, "its actions are disabled");
  const set = (value: MetricAlarm["StateValue"]) =>
    cloudWatch.send(
      new SetAlarmStateCommand({ AlarmName, StateValue: value, StateReason: "npm run accept" }),
    );
  // CloudWatch evaluates it within a minute in any case.
  await using undo = new AsyncDisposableStack();
  undo.defer(() => set(StateValue === "ALARM" ? "ALARM" : "OK").then(() => {}));
  const StartDate = new Date();
  await set("OK");
  await set("ALARM");
  const result = await poll(acceptance, { every: 2000, atMost: actionDelay }, async () => {
    const { AlarmHistoryItems = [] } = await cloudWatch.send(
      new DescribeAlarmHistoryCommand({ AlarmName, StartDate, HistoryItemType: "Action" }),
    );
    return AlarmHistoryItems[0]?.HistorySummary;
  });
  const target = `${AlarmActions[0]}`.split(":").at(-1);
  if (result === undefined) return compared(comparison, `${target} was not called`);
  return compared(comparison, /success/i.test(result) ? "succeeds" : result);
}
