import { Stack } from "aws-cdk-lib";
import { Alarm, ComparisonOperator, TreatMissingData } from "aws-cdk-lib/aws-cloudwatch";
import { SnsAction } from "aws-cdk-lib/aws-cloudwatch-actions";
import { type ITopic, Topic } from "aws-cdk-lib/aws-sns";
import { Construct } from "constructs";
import type { Config } from "../config/config.ts";
import type { AlarmDefinition } from "./alarm-definition.ts";
import { alarmDefinitions } from "./alarm-definitions.ts";
import type { MonitoredResources } from "./monitored-resources.ts";

interface AlarmsProps {
  readonly config: Config;
  readonly resources: MonitoredResources;
}

/** The service's alarms. Each links to its section of the runbook. */
export class Alarms extends Construct {
  readonly all: readonly Alarm[];

  constructor(scope: Construct, id: string, { config, resources }: AlarmsProps) {
    super(scope, id);
    const { runbookUrl, alarmsTo } = config;
    const wake = alarmsTo && Topic.fromTopicArn(this, "Wake", alarmsTo.wake);
    const look = alarmsTo && Topic.fromTopicArn(this, "Look", alarmsTo.look);
    this.all = Object.entries(alarmDefinitions(resources)).map(([name, definition]) => {
      const alarm = this.addAlarm(name, definition, runbookUrl);
      if (definition.rollsBack) resources.deployment?.rollBackOn(alarm);
      notify(alarm, definition.wakes ? wake : look);
      return alarm;
    });
  }

  private addAlarm(name: string, definition: AlarmDefinition, runbookUrl: string): Alarm {
    const { meaning, metric, threshold, section = name, required } = definition;
    const { periods = { breaching: 1, of: 1 } } = definition;
    return new Alarm(this, name, {
      alarmName: `${Stack.of(this).stackName}-${name}`,
      alarmDescription: `${meaning} Runbook: ${runbookUrl}#${section}`,
      metric,
      threshold,
      comparisonOperator: required
        ? ComparisonOperator.LESS_THAN_THRESHOLD
        : ComparisonOperator.GREATER_THAN_OR_EQUAL_TO_THRESHOLD,
      datapointsToAlarm: periods.breaching,
      evaluationPeriods: periods.of,
      // Without data, nothing shows that a fault is over: most alarms that are raised stay raised.
      treatMissingData: required ? TreatMissingData.BREACHING : TreatMissingData.IGNORE,
    });
  }
}

/** Notifies when an alarm is raised and when it clears. */
function notify(alarm: Alarm, to: ITopic | undefined): void {
  if (!to) return;
  const action = new SnsAction(to);
  alarm.addAlarmAction(action);
  alarm.addOkAction(action);
}
