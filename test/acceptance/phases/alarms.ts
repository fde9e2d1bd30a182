import { paginateListStackResources } from "@aws-sdk/client-cloudformation";
import {
  type AlarmHistoryItem,
  DescribeAlarmHistoryCommand,
  DescribeAlarmsCommand,
  type MetricAlarm,
  SetAlarmStateCommand,
  type StateValue,
} from "@aws-sdk/client-cloudwatch";
import type { AwsStage } from "../aws-stage.ts";
import { assumption, compared, type Finding, notSeen } from "../finding.ts";
import { type Acceptance, type Phase, poll } from "../phase.ts";

/** Why an alarm is raised by a run. */
const reason = "npm run accept";

/** Each alarm, and whether raising it runs its action. Nothing harmless makes the metrics themselves breach. */
export const alarms: Phase = {
  name: "alarms",
  minutes: 2,
  needs: "aws",
  async *run(acceptance) {
    const { aws, note, signal } = acceptance as Acceptance & { aws: AwsStage };
    const { names, all } = await readAlarms(aws);
    const missing = names.filter((name) => !all.some(({ AlarmName }) => AlarmName === name));
    yield compared(
      { check: "The alarms of the stage", page: "docs/operations.md#alarms", expected: "all exist" },
      missing.length === 0 && names.length > 0 ? "all exist" : `missing: ${missing.join(", ") || "all"}`,
    );
    for (const alarm of all) {
      signal.throwIfAborted();
      note(`raising ${alarm.AlarmName}`);
      yield await raise(acceptance, aws, alarm);
    }
  },
};

/** The alarms that the stack has deployed, and those of them that exist: another stage's name may begin with this one's. */
async function readAlarms({ cloudFormation, cloudWatch, stackName: StackName }: AwsStage) {
  const names: string[] = [];
  for await (const page of paginateListStackResources({ client: cloudFormation }, { StackName }))
    for (const { ResourceType, PhysicalResourceId } of page.StackResourceSummaries ?? [])
      if (ResourceType === "AWS::CloudWatch::Alarm" && PhysicalResourceId) names.push(PhysicalResourceId);
  // Without names, it would describe those of all stacks.
  if (names.length === 0) return { names, all: [] };
  const { MetricAlarms: all = [] } = await cloudWatch.send(
    new DescribeAlarmsCommand({ AlarmNames: names, MaxRecords: 100 }),
  );
  return { names, all };
}

const setState = ({ cloudWatch }: AwsStage, AlarmName: string, value: StateValue) =>
  cloudWatch.send(new SetAlarmStateCommand({ AlarmName, StateValue: value, StateReason: reason }));

/** Ends the alarms that a killed run has raised. */
export async function resetAlarms(aws: AwsStage): Promise<void> {
  for (const { AlarmName = "", StateValue, StateReason } of (await readAlarms(aws)).all)
    if (StateValue === "ALARM" && StateReason === reason) await setState(aws, AlarmName, "OK");
}

/** How long CloudWatch may take to run an action, in milliseconds. */
const actionDelay = 30_000;

async function raise(acceptance: Acceptance, aws: AwsStage, alarm: MetricAlarm): Promise<Finding> {
  const { AlarmName = "", AlarmActions = [], ActionsEnabled, StateValue } = alarm;
  const comparison = {
    check: `The action of the alarm ${AlarmName}`,
    page: assumption("alarm-actions"),
    expected: "succeeds",
  };
  const { settings } = acceptance;
  if (AlarmActions.length === 0)
    return settings.alarmsTo === undefined
      ? notSeen(comparison, "the stage has no alarmsTo, so the alarm notifies nobody")
      : compared(comparison, "it has none");
  if (!ActionsEnabled) return compared(comparison, "its actions are disabled");
  if (StateValue === "ALARM") return notSeen(comparison, "the alarm is raised already");
  const readHistory = async () => {
    const history = new DescribeAlarmHistoryCommand({ AlarmName });
    return (await aws.cloudWatch.send(history)).AlarmHistoryItems ?? [];
  };
  const before = timeOf((await readHistory())[0]);
  // CloudWatch evaluates it within a minute in any case.
  await using undo = new AsyncDisposableStack();
  undo.defer(() => setState(aws, AlarmName, "OK").then(() => {}));
  await setState(aws, AlarmName, "ALARM");
  const result = await poll(acceptance, { every: 2000, atMost: actionDelay }, async () => {
    const since = (await readHistory()).filter((item) => timeOf(item) > before);
    const raised = since.find(({ HistorySummary = "" }) => HistorySummary.endsWith(" to ALARM"));
    // The oldest one: the newest comes first.
    return since.findLast(
      (item) => raised && item.HistoryItemType === "Action" && timeOf(item) >= timeOf(raised),
    )?.HistorySummary;
  });
  const target = `${AlarmActions[0]}`.split(":").at(-1);
  if (result === undefined) return compared(comparison, `${target} was not called`);
  return compared(comparison, /success/i.test(result) ? "succeeds" : result);
}

const timeOf = (item: AlarmHistoryItem | undefined) => item?.Timestamp?.getTime() ?? 0;
