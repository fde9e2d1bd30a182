import { Duration, Stack } from "aws-cdk-lib";
import {
  type Alarm,
  AlarmStatusWidget,
  AlarmWidget,
  Dashboard,
  GraphWidget,
  type IMetric,
  LogQueryWidget,
  Stats,
} from "aws-cdk-lib/aws-cloudwatch";
import type { Construct } from "constructs";
import { total } from "./alarm-metrics.ts";
import type { MonitoredResources } from "./monitored-resources.ts";

/** CloudWatch divides a dashboard into 24 columns. */
const fullWidth = 24;

/** A third of a row. */
const width = fullWidth / 3;

const graph = (title: string, left: IMetric[]) =>
  new GraphWidget({ title, left, width, leftYAxis: { min: 0 } });

const p99 = { statistic: Stats.p(99) };

/**
 * The dashboard for incidents: which alarms are raised, what callers meet, each alarm's metric, and the latest errors.
 * AWS's automatic dashboards have the rest.
 */
export class ServiceDashboard extends Dashboard {
  constructor(
    scope: Construct,
    id: string,
    alarms: readonly Alarm[],
    { api: { stage }, functions }: MonitoredResources,
  ) {
    super(scope, id, { dashboardName: Stack.of(scope).stackName, defaultInterval: Duration.hours(3) });
    this.addWidgets(new AlarmStatusWidget({ title: "Alarms", alarms: [...alarms], width: fullWidth }));
    this.addWidgets(
      graph("Requests and errors", [
        stage.metricCount({ ...total, label: "All" }),
        stage.metricClientError({ ...total, label: "4xx" }),
        stage.metricServerError({ ...total, label: "5xx" }),
      ]),
      graph("Latency (ms)", [
        stage.metricLatency({ statistic: Stats.p(50), label: "p50" }),
        stage.metricLatency({ ...p99, label: "p99" }),
        stage.metricIntegrationLatency({ ...p99, label: "p99 of the functions" }),
      ]),
      graph(
        "Functions: p99 duration (ms)",
        functions.map(({ name, lambda }) => lambda.metricDuration({ ...p99, label: name })),
      ),
    );
    this.addWidgets(...alarms.map((alarm) => new AlarmWidget({ title: alarm.node.id, alarm, width })));
    this.addWidgets(
      new LogQueryWidget({
        title: "Latest errors of the functions",
        logGroupNames: functions.map(({ lambda }) => lambda.logGroup.logGroupName),
        queryLines: [
          "fields @timestamp, message.event, message.code, message.requestId, message.cause.name, @message",
          'filter level = "ERROR"',
          "sort @timestamp desc",
          "limit 20",
        ],
        width: fullWidth,
      }),
    );
  }
}
