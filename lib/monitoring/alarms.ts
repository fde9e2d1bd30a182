import { isDeepStrictEqual } from "node:util";
import { Stack } from "aws-cdk-lib";
import {
  Alarm,
  type AlarmBase,
  AlarmRule,
  ComparisonOperator,
  CompositeAlarm,
  TreatMissingData,
} from "aws-cdk-lib/aws-cloudwatch";
import { SnsAction } from "aws-cdk-lib/aws-cloudwatch-actions";
import { Construct } from "constructs";
import type { Config } from "../config/config.ts";
import type { AlarmDefinition } from "./alarm-definition.ts";
import { alarmDefinitions } from "./alarm-definitions.ts";
import { AlarmTopic } from "./alarm-topic.ts";
import type { MonitoredResources } from "./monitored-resources.ts";

interface AlarmsProps {
  readonly config: Config;
  readonly resources: MonitoredResources;
}

/** The service's alarms. Each links to its section of the runbook. */
export class Alarms extends Construct {
  /** Those that notify. An alarm with two windows has one for each that does not. */
  readonly all: readonly AlarmBase[];

  constructor(scope: Construct, id: string, { config, resources }: AlarmsProps) {
    super(scope, id);
    const topics = this.createTopics(config);
    this.all = Object.entries(alarmDefinitions(resources)).map(([name, definition]) => {
      const { recently, rollsBack, severity } = definition;
      const own = this.addAlarm(recently ? `${name}-hour` : name, name, definition, config);
      // CodeDeploy documents alarms on metrics only.
      if (rollsBack) resources.deployment?.rollBackOn(own);
      const alarm = recently ? this.addComposite(name, definition, own, recently, config) : own;
      if (topics) notify(alarm, topics[severity]);
      return alarm;
    });
  }

  private addAlarm(id: string, name: string, definition: AlarmDefinition, { runbookUrl }: Config): Alarm {
    const { metric, threshold, required, periods = { breaching: 1, of: 1 } } = definition;
    return new Alarm(this, id, {
      alarmName: `${Stack.of(this).stackName}-${id}`,
      alarmDescription: describe(name, definition, runbookUrl),
      metric,
      threshold,
      comparisonOperator: required
        ? ComparisonOperator.LESS_THAN_THRESHOLD
        : ComparisonOperator.GREATER_THAN_OR_EQUAL_TO_THRESHOLD,
      datapointsToAlarm: periods.breaching,
      evaluationPeriods: periods.of,
      treatMissingData: missingData(definition),
    });
  }

  private addComposite(
    name: string,
    definition: AlarmDefinition,
    hour: Alarm,
    metric: AlarmDefinition["metric"],
    config: Config,
  ): CompositeAlarm {
    const minutes = this.addAlarm(`${name}-minutes`, name, { ...definition, metric }, config);
    return new CompositeAlarm(this, name, {
      compositeAlarmName: `${Stack.of(this).stackName}-${name}`,
      alarmDescription: describe(name, definition, config.runbookUrl),
      alarmRule: AlarmRule.allOf(hour, minutes),
    });
  }

  private createTopics({ alarmsTo }: Config) {
    if (!alarmsTo) return undefined;
    // The id "Default" is left out of the logical ids of the topic's resources.
    const wake = new AlarmTopic(this, "Default", alarmsTo.wake);
    const isOne = isDeepStrictEqual(alarmsTo.wake, alarmsTo.look);
    return { wake, look: isOne ? wake : new AlarmTopic(this, "Look", alarmsTo.look) };
  }
}

const describe = (name: string, { meaning, section = name }: AlarmDefinition, runbookUrl: string) =>
  `${meaning} Runbook: ${runbookUrl}#${section}`;

/** Notifies when an alarm is raised and when it clears. */
function notify(alarm: AlarmBase, { topic }: AlarmTopic): void {
  const action = new SnsAction(topic);
  alarm.addAlarmAction(action);
  alarm.addOkAction(action);
}

function missingData({ required, overWithoutData }: AlarmDefinition): TreatMissingData {
  if (required) return TreatMissingData.BREACHING;
  // Without data, nothing shows that a fault is over: most alarms that are raised stay raised.
  return overWithoutData ? TreatMissingData.NOT_BREACHING : TreatMissingData.IGNORE;
}
