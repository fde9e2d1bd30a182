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
  TextWidget,
} from "aws-cdk-lib/aws-cloudwatch";
import type { Construct } from "constructs";
import { total } from "./alarm-metrics.ts";
import type { MonitoredResources } from "./monitored-resources.ts";

interface DashboardProps {
  readonly release: string;
  readonly runbookUrl: string;
  readonly alarms: readonly Alarm[];
  readonly resources: MonitoredResources;
}

/** CloudWatch divides a dashboard into 24 columns. */
const fullWidth = 24;

/** A third of a row. */
const width = fullWidth / 3;

const graph = (title: string, left: IMetric[]) =>
  new GraphWidget({ title, left, width, leftYAxis: { min: 0 } });

const p99 = { statistic: Stats.p(99) };

/** The dashboard for incidents: which alarms are raised, what callers meet, each alarm's metric, and the latest errors. */
export class ServiceDashboard extends Dashboard {
  constructor(scope: Construct, id: string, { release, runbookUrl, alarms, resources }: DashboardProps) {
    const { stackName } = Stack.of(scope);
    super(scope, id, { dashboardName: stackName, defaultInterval: Duration.hours(3) });
    const { api, table, events, functions } = resources;
    const { stage } = api;
    const markdown = `**${stackName}** Release ${release}. What each alarm means and what to do: ${runbookUrl}`;
    this.addWidgets(new TextWidget({ markdown, width: fullWidth, height: 1 }));
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
      graph("Table: consumed capacity units", [
        table.metricConsumedReadCapacityUnits({ label: "Read" }),
        table.metricConsumedWriteCapacityUnits({ label: "Write" }),
      ]),
    );
    this.addWidgets(
      graph(
        "Functions: p99 duration (ms)",
        functions.map(({ name, lambda }) => lambda.metricDuration({ ...p99, label: name })),
      ),
      graph(
        "Functions: concurrent executions",
        functions.map(({ name, lambda }) =>
          lambda.metric("ConcurrentExecutions", { statistic: Stats.MAXIMUM, label: name }),
        ),
      ),
      graph("Events: p99 pipe duration (ms)", [events.metric("Duration", { ...p99, label: "p99" })]),
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
