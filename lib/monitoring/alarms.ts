import { Alarm, ComparisonOperator, TreatMissingData } from "aws-cdk-lib/aws-cloudwatch";
import { SnsAction } from "aws-cdk-lib/aws-cloudwatch-actions";
import { Construct } from "constructs";
import type { Config } from "../config/config.ts";
import { type AlarmDefinition, alarmDefinitions, type MonitoredResources } from "./alarm-definitions.ts";
import { alarmTopic } from "./alarm-topic.ts";

interface AlarmsProps {
  readonly config: Config;
  /** What the name of every alarm begins with. */
  readonly prefix: string;
  readonly resources: MonitoredResources;
}

/** The service's alarms, each with its place in the runbook; they are sent to whoever is configured. */
export class Alarms extends Construct {
  readonly all: readonly Alarm[];

  constructor(scope: Construct, id: string, { config, prefix, resources }: AlarmsProps) {
    super(scope, id);
    this.all = Object.entries(alarmDefinitions(resources)).map(([name, definition]) =>
      this.addAlarm(
        name,
        `${prefix}-${name}`,
        `${definition.meaning} Runbook: ${config.runbookUrl}#${name}`,
        definition,
      ),
    );
    if (config.alarmsTo) this.sendTo(new SnsAction(alarmTopic(this, config.alarmsTo)));
  }

  private addAlarm(
    id: string,
    alarmName: string,
    alarmDescription: string,
    definition: AlarmDefinition,
  ): Alarm {
    const { metric, threshold, periods = { reached: 1, of: 1 } } = definition;
    return new Alarm(this, id, {
      alarmName,
      alarmDescription,
      metric,
      threshold,
      comparisonOperator: ComparisonOperator.GREATER_THAN_OR_EQUAL_TO_THRESHOLD,
      datapointsToAlarm: periods.reached,
      evaluationPeriods: periods.of,
      // Each of these metrics is silent when nothing happens, and nothing that happens is nothing wrong.
      treatMissingData: TreatMissingData.NOT_BREACHING,
    });
  }

  /** Also when it is over, so that nobody gets up for what has passed. */
  private sendTo(action: SnsAction) {
    for (const alarm of this.all) {
      alarm.addAlarmAction(action);
      alarm.addOkAction(action);
    }
  }
}
