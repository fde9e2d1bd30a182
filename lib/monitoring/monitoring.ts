import { Duration, RemovalPolicy, Stack } from "aws-cdk-lib";
import { Alarm, ComparisonOperator, TreatMissingData } from "aws-cdk-lib/aws-cloudwatch";
import { SnsAction } from "aws-cdk-lib/aws-cloudwatch-actions";
import { Topic } from "aws-cdk-lib/aws-sns";
import { Construct } from "constructs";
import type { Config } from "../config/config.ts";
import { alarms, type MonitoredResources } from "./alarm-definitions.ts";
import { LogMetrics } from "./log-metrics.ts";

/** Metrics from the logs, and alarms. */
export class Monitoring extends Construct {
  constructor(scope: Construct, id: string, config: Config, resources: Omit<MonitoredResources, "logs">) {
    super(scope, id);
    const { api, deployment, functions } = resources;
    const logs = new LogMetrics(this, "Requests", api.accessLog, functions);
    // A stage that does not last and notifies nobody saves the costs of alarms, unless they can roll back a deployment.
    const lasts = config.removalPolicy !== RemovalPolicy.DESTROY;
    if (lasts || config.alarmsTo || deployment)
      addAlarms(new Construct(this, "Alarms"), config, { ...resources, logs });
  }
}

/** Adds the service's alarms: each links to its section of the runbook. */
function addAlarms(scope: Construct, { runbookUrl, alarmsTo }: Config, resources: MonitoredResources) {
  const actions = alarmsTo && {
    page: new SnsAction(Topic.fromTopicArn(scope, "Page", alarmsTo.page)),
    ticket: new SnsAction(Topic.fromTopicArn(scope, "Ticket", alarmsTo.ticket)),
  };
  for (const { name, section, required, means, first, ...definition } of alarms) {
    const metric = definition.metric(resources);
    if (!metric) continue;
    const [datapointsToAlarm, evaluationPeriods, minutes] = definition.periods;
    const alarm = new Alarm(scope, name, {
      alarmName: `${Stack.of(scope).stackName}-${name}`,
      alarmDescription: `${means} First: ${first} Runbook: ${runbookUrl}#${section}`,
      metric: metric.with({ period: Duration.minutes(minutes) }),
      threshold: definition.threshold,
      comparisonOperator: required
        ? ComparisonOperator.LESS_THAN_THRESHOLD
        : ComparisonOperator.GREATER_THAN_OR_EQUAL_TO_THRESHOLD,
      datapointsToAlarm,
      evaluationPeriods,
      // Without data, nothing shows that a fault is over, so most raised alarms stay raised.
      treatMissingData: required ? TreatMissingData.BREACHING : TreatMissingData.IGNORE,
    });
    if (definition.rollsBack) resources.deployment?.rollBackOn(alarm);
    const action = actions?.[definition.severity];
    if (!action) continue;
    alarm.addAlarmAction(action);
    // Also notifies when the alarm clears.
    alarm.addOkAction(action);
  }
}
