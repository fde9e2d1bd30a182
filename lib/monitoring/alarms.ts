import { Stack } from "aws-cdk-lib";
import { Alarm, ComparisonOperator, TreatMissingData } from "aws-cdk-lib/aws-cloudwatch";
import { SnsAction } from "aws-cdk-lib/aws-cloudwatch-actions";
import { type ITopic, Topic } from "aws-cdk-lib/aws-sns";
import { Construct } from "constructs";
import type { Config } from "../config/config.ts";
import { accessAlarms } from "./access-alarms.ts";
import { type AlarmSection, type AlarmThreshold, alarmThresholds } from "./alarm-thresholds.ts";
import { releaseAlarms, throttleAlarms } from "./capacity-alarms.ts";
import type { MonitoredFault, MonitoredFaults, MonitoredResources } from "./monitored-resources.ts";
import { serviceLevels } from "./service-levels.ts";
import { countingAlarms, publishingAlarms } from "./stream-alarms.ts";

interface AlarmsProps {
  readonly config: Config;
  readonly resources: MonitoredResources;
}

/** Every fault that has an alarm, by the alarm's name. */
const monitoredFaults = (resources: MonitoredResources): MonitoredFaults => ({
  ...serviceLevels(resources),
  ...accessAlarms(resources),
  ...throttleAlarms(resources),
  ...countingAlarms(resources),
  ...publishingAlarms(resources),
  ...releaseAlarms(resources),
});

/** The service's alarms. Each links to its section of the runbook. */
export class Alarms extends Construct {
  readonly all: readonly Alarm[];

  constructor(scope: Construct, id: string, { config, resources }: AlarmsProps) {
    super(scope, id);
    const { runbookUrl, alarmsTo } = config;
    const wake = alarmsTo && Topic.fromTopicArn(this, "Wake", alarmsTo.wake);
    const look = alarmsTo && Topic.fromTopicArn(this, "Look", alarmsTo.look);
    this.all = Object.entries(monitoredFaults(resources)).map(([name, fault]) => {
      const section = fault.section ?? (name as AlarmSection);
      const alarm = this.addAlarm(name, fault, section, runbookUrl);
      if (fault.rollsBack) resources.deployment?.rollBackOn(alarm);
      notify(alarm, alarmThresholds[section].severity === "wake" ? wake : look);
      return alarm;
    });
  }

  private addAlarm(
    name: string,
    { meaning, metric }: MonitoredFault,
    section: AlarmSection,
    runbookUrl: string,
  ): Alarm {
    const {
      threshold,
      required,
      periods = { breaching: 1, of: 1 },
    }: AlarmThreshold = alarmThresholds[section];
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
