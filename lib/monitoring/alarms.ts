import { Duration, Stack } from "aws-cdk-lib";
import { Alarm, ComparisonOperator, TreatMissingData } from "aws-cdk-lib/aws-cloudwatch";
import { SnsAction } from "aws-cdk-lib/aws-cloudwatch-actions";
import { type ITopic, Topic } from "aws-cdk-lib/aws-sns";
import type { Construct } from "constructs";
import type { Config } from "../config/config.ts";
import { alarmMetrics } from "./alarm-metrics.ts";
import type { MonitoredResources } from "./monitored-resources.ts";
import { runbookRows } from "./runbook.ts";

/** The sections of the alarms that end a gradual deployment: CodeDeploy accepts ten alarms. */
const rollsBack = ["server-errors", "slow-answers", "new-version-errors"];

/** Adds the service's alarms: each is a row of the runbook's table, and links to its section. */
export function addAlarms(
  scope: Construct,
  { runbookUrl, alarmsTo }: Config,
  resources: MonitoredResources,
): void {
  const topics = alarmsTo && {
    wake: Topic.fromTopicArn(scope, "Wake", alarmsTo.wake),
    look: Topic.fromTopicArn(scope, "Look", alarmsTo.look),
  };
  for (const [name, metric] of Object.entries(alarmMetrics(resources))) {
    const row = runbookRows.get(name);
    if (!row) throw new Error(`docs/operations.md has no row of the alarm ${name}.`);
    if (!metric) continue;
    const alarm = new Alarm(scope, name, {
      alarmName: `${Stack.of(scope).stackName}-${name}`,
      alarmDescription: `${row.description} Runbook: ${runbookUrl}#${row.section}`,
      metric: metric.with({ period: Duration.minutes(row.minutes) }),
      threshold: row.threshold,
      comparisonOperator: row.required
        ? ComparisonOperator.LESS_THAN_THRESHOLD
        : ComparisonOperator.GREATER_THAN_OR_EQUAL_TO_THRESHOLD,
      datapointsToAlarm: row.breaching,
      evaluationPeriods: row.periods,
      // Without data, nothing shows that a fault is over: most alarms that are raised stay raised.
      treatMissingData: row.required ? TreatMissingData.BREACHING : TreatMissingData.IGNORE,
    });
    if (rollsBack.includes(row.section)) resources.deployment?.rollBackOn(alarm);
    if (topics) notify(alarm, topics[row.severity]);
  }
}

/** Notifies when an alarm is raised and when it clears. */
function notify(alarm: Alarm, topic: ITopic): void {
  const action = new SnsAction(topic);
  alarm.addAlarmAction(action);
  alarm.addOkAction(action);
}
