import { Duration } from "aws-cdk-lib";
import {
  type Alarm,
  AlarmStatusWidget,
  Dashboard,
  GraphWidget,
  type IMetric,
  type IWidget,
  LogQueryWidget,
  Stats,
  TextWidget,
} from "aws-cdk-lib/aws-cloudwatch";
import type { Construct } from "constructs";
import type { MonitoredResources } from "./alarm-definitions.ts";
import { throttleEvents } from "./table-metrics.ts";

interface DashboardProps {
  readonly name: string;
  readonly runbookUrl: string;
  readonly alarms: readonly Alarm[];
  readonly resources: MonitoredResources;
}

/** CloudWatch divides a dashboard into 24 columns. */
const fullWidth = 24;

/** What one looks at first at night, from the callers' side inwards. */
export class ServiceDashboard extends Dashboard {
  constructor(scope: Construct, id: string, { name, runbookUrl, alarms, resources }: DashboardProps) {
    super(scope, id, { dashboardName: name, defaultInterval: Duration.hours(3) });
    const markdown = `**${name}** What each alarm means and what to do: ${runbookUrl}`;
    this.addWidgets(new TextWidget({ markdown, width: fullWidth, height: 1 }));
    this.addWidgets(new AlarmStatusWidget({ title: "Alarms", alarms: [...alarms], width: fullWidth }));
    this.addWidgets(...callers(resources));
    this.addWidgets(...functions(resources));
    this.addWidgets(...data(resources));
    this.addWidgets(...published(resources));
    this.addWidgets(lastErrors(resources));
  }
}

/** A third of a row. */
const graph = (title: string, left: IMetric[], right: IMetric[] = []) =>
  new GraphWidget({
    title,
    left,
    right,
    width: fullWidth / 3,
    leftYAxis: { min: 0 },
    rightYAxis: { min: 0 },
  });

const sum = { statistic: Stats.SUM };

const callers = ({ apiStage, requests }: MonitoredResources): IWidget[] => [
  graph("Requests: all, and those that were refused", [
    apiStage.metricCount({ ...sum, label: "All" }),
    apiStage.metricClientError({ ...sum, label: "4xx" }),
    apiStage.metricServerError({ ...sum, label: "5xx" }),
    requests.sum("RateLimitedRequests"),
    requests.sum("RateLimitFailures"),
    requests.sum("ThrottledRequests"),
  ]),
  graph("Latency (ms)", [
    apiStage.metricLatency({ statistic: Stats.p(50), label: "p50" }),
    apiStage.metricLatency({ statistic: Stats.p(99), label: "p99" }),
    apiStage.metricIntegrationLatency({ statistic: Stats.p(99), label: "p99 of the functions" }),
  ]),
  graph("What was done", [
    requests.sum("LeadsCreated"),
    requests.sum("MessagesSent"),
    requests.sum("ReplayedRequests"),
  ]),
];

const functions = ({ functions }: MonitoredResources): IWidget[] => {
  const all = [...functions];
  return [
    graph(
      "Functions: errors (left), throttles (right)",
      all.map(([label, fn]) => fn.metricErrors({ label })),
      all.map(([label, fn]) => fn.metricThrottles({ label })),
    ),
    graph(
      "Functions: p99 of the duration (ms)",
      all.map(([label, fn]) => fn.metricDuration({ statistic: Stats.p(99), label })),
    ),
    graph(
      "Functions: how many at once",
      all.map(([label, fn]) => fn.metric("ConcurrentExecutions", { statistic: Stats.MAXIMUM, label })),
    ),
  ];
};

const data = ({ table, maintainer, failures }: MonitoredResources): IWidget[] => [
  graph("Table: units read and written", [
    table.metricConsumedReadCapacityUnits({ label: "Read" }),
    table.metricConsumedWriteCapacityUnits({ label: "Written" }),
  ]),
  graph("Table: throttled", [...throttleEvents(table, "Read"), ...throttleEvents(table, "Write")]),
  graph(
    "Counting: age of the stream (ms, left), batches given up (right)",
    [maintainer.metric("IteratorAge", { statistic: Stats.MAXIMUM, label: "Age" })],
    [failures.metricApproximateNumberOfMessagesVisible({ statistic: Stats.MAXIMUM, label: "Given up" })],
  ),
];

const published = ({ events }: MonitoredResources): IWidget[] => [
  graph("Events: new items that the pipe took up", [events.metric("EventCount", { ...sum, label: "Items" })]),
  graph(
    "Events: batches that failed (left), given up (right)",
    [
      events.metric("ExecutionFailed", { ...sum, label: "Failed" }),
      events.metric("ExecutionPartiallyFailed", { ...sum, label: "Partly" }),
      events.metric("ExecutionThrottled", { ...sum, label: "Throttled" }),
      events.metric("ExecutionTimeout", { ...sum, label: "Timed out" }),
    ],
    [
      events.failures.metricApproximateNumberOfMessagesVisible({
        statistic: Stats.MAXIMUM,
        label: "Given up",
      }),
    ],
  ),
  graph("Events: p99 of a batch's way through the pipe (ms)", [
    events.metric("Duration", { statistic: Stats.p(99), label: "p99" }),
  ]),
];

const lastErrors = ({ functions }: MonitoredResources): IWidget =>
  new LogQueryWidget({
    title: "The last errors of the functions",
    logGroupNames: [...functions.values()].map(({ logGroup }) => logGroup.logGroupName),
    queryLines: [
      "fields @timestamp, message.event, message.code, message.requestId, message.cause.name, @message",
      'filter level = "ERROR"',
      "sort @timestamp desc",
      "limit 20",
    ],
    width: fullWidth,
  });
