import { Duration, Stack } from "aws-cdk-lib";
import { Alarm, ComparisonOperator, TreatMissingData } from "aws-cdk-lib/aws-cloudwatch";
import { SnsAction } from "aws-cdk-lib/aws-cloudwatch-actions";
import { type ITopic, Topic } from "aws-cdk-lib/aws-sns";
import type { Construct } from "constructs";
import type { Config } from "../config/config.ts";
import { alarmDefaults, alarms } from "./alarm-definitions.ts";
import type { MonitoredResources } from "./monitored-resources.ts";

/** Adds the service's alarms: each links to its section of the runbook. */
export function addAlarms(
  scope: Construct,
  { runbookUrl, alarmsTo }: Config,
  resources: MonitoredResources,
): void {
  const topics = alarmsTo && {
    page: Topic.fromTopicArn(scope, "Page", alarmsTo.page),
    ticket: Topic.fromTopicArn(scope, "Ticket", alarmsTo.ticket),
  };
  for (const definition of alarms) {
    const metric = definition.metric(resources);
    if (!metric) continue;
    const {
      name,
      section = name,
      means,
      first,
      required,
      threshold,
      periods,
    } = {
      ...alarmDefaults,
      ...definition,
    };
    const [datapointsToAlarm, evaluationPeriods, minutes] = periods;
    const alarm = new Alarm(scope, name, {
      alarmName: `${Stack.of(scope).stackName}-${name}`,
      alarmDescription: `${means} First: ${first} Runbook: ${runbookUrl}#${section}`,
      metric: metric.with({ period: Duration.minutes(minutes) }),
      threshold,
      comparisonOperator: required
        ? ComparisonOperator.LESS_THAN_THRESHOLD
        : ComparisonOperator.GREATER_THAN_OR_EQUAL_TO_THRESHOLD,
      datapointsToAlarm,
      evaluationPeriods,
      // Without data, nothing shows that a fault is over: most alarms that are raised stay raised.
      treatMissingData: required ? TreatMissingData.BREACHING : TreatMissingData.IGNORE,
    });
    if (definition.rollsBack) resources.deployment?.rollBackOn(alarm);
    if (topics) notify(alarm, topics[definition.severity]);
  }
}

/** Notifies when an alarm is raised and when it clears. */
function notify(alarm: Alarm, topic: ITopic): void {
  const action = new SnsAction(topic);
  alarm.addAlarmAction(action);
  alarm.addOkAction(action);
}
