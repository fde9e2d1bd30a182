import { Duration, Stack } from "aws-cdk-lib";
import {
  AlarmStatusWidget,
  Dashboard,
  GraphWidget,
  type IAlarm,
  type IMetric,
  type IWidget,
  LogQueryWidget,
  Stats,
  TextWidget,
} from "aws-cdk-lib/aws-cloudwatch";
import type { Construct } from "constructs";
import { concurrency } from "./capacity-alarms.ts";
import type { MonitoredResources } from "./monitored-resources.ts";

interface DashboardProps {
  readonly release: string;
  readonly runbookUrl: string;
  readonly alarms: readonly IAlarm[];
  readonly resources: MonitoredResources;
}

/** CloudWatch divides a dashboard into 24 columns. */
const fullWidth = 24;

/** The dashboard for incidents: alarms first, then from requests inward to functions, table and events. */
export class ServiceDashboard extends Dashboard {
  constructor(scope: Construct, id: string, { release, runbookUrl, alarms, resources }: DashboardProps) {
    const { stackName } = Stack.of(scope);
    super(scope, id, { dashboardName: stackName, defaultInterval: Duration.hours(3) });
    const markdown = `**${stackName}** Release ${release}. What each alarm means and what to do: ${runbookUrl}`;
    this.addWidgets(new TextWidget({ markdown, width: fullWidth, height: 1 }));
    this.addWidgets(new AlarmStatusWidget({ title: "Alarms", alarms: [...alarms], width: fullWidth }));
    this.addWidgets(...requests(resources));
    this.addWidgets(...functions(resources));
    this.addWidgets(...data(resources));
    this.addWidgets(...publishing(resources));
    this.addWidgets(latestErrors(resources));
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
const maximum = { statistic: Stats.MAXIMUM };
const p99 = { statistic: Stats.p(99) };

const requests = ({ api: { stage, authorizer, handlers }, canary, logs }: MonitoredResources): IWidget[] => [
  graph("Requests, errors and rate limits", [
    stage.metricCount({ ...sum, label: "All" }),
    stage.metricClientError({ ...sum, label: "4xx" }),
    stage.metricServerError({ ...sum, label: "5xx" }),
    authorizer.lambda.metricInvocations({ label: "Calls of the authorizer" }),
    ...(canary ? [canary.runner.lambda.metricInvocations({ label: "Runs of the canary" })] : []),
    logs.sum("RefusedRequests"),
    logs.sum("RateLimitFailures"),
    logs.sum("ThrottledRequests"),
    logs.sum("GatewayFailures"),
    logs.sum("ForbiddenRequests"),
  ]),
  graph("Latency (ms)", [
    stage.metricLatency({ statistic: Stats.p(50), label: "p50" }),
    stage.metricLatency({ ...p99, label: "p99" }),
    stage.metricIntegrationLatency({ ...p99, label: "p99 of the functions" }),
  ]),
  graph("Leads, messages, replays and failed requests", [
    logs.sum("LeadsCreated"),
    logs.sum("MessagesSent"),
    logs.sum("ReplayedRequests"),
    ...handlers.map(({ name }) => logs.sum(`FailedRequests-${name}`)),
  ]),
];

const functions = ({ functions }: MonitoredResources): IWidget[] => [
  graph(
    "Functions: errors (left), throttles (right)",
    functions.map(({ name, lambda }) => lambda.metricErrors({ label: name })),
    functions.map(({ name, lambda }) => lambda.metricThrottles({ label: name })),
  ),
  graph(
    "Functions: p99 duration (ms, left), calls (right)",
    functions.map(({ name, lambda }) => lambda.metricDuration({ ...p99, label: name })),
    functions.map(({ name, lambda }) => lambda.metricInvocations({ label: name })),
  ),
  graph(
    "Concurrent executions: functions (left), AWS account (right)",
    functions.map(({ name, lambda }) => lambda.metric("ConcurrentExecutions", { ...maximum, label: name })),
    [concurrency],
  ),
];

const data = ({ table, counting: { maintainer, failures }, logs }: MonitoredResources): IWidget[] => [
  graph("Table: consumed capacity units", [
    table.metricConsumedReadCapacityUnits({ label: "Read" }),
    table.metricConsumedWriteCapacityUnits({ label: "Write" }),
  ]),
  graph("Table: throttled requests", [
    ...table.metricThrottleEvents("Read"),
    ...table.metricThrottleEvents("Write"),
  ]),
  graph(
    "Counting: stream age (ms, left), failure queue, damage, repairs, malformed items (right)",
    [maintainer.lambda.metric("IteratorAge", { ...maximum, label: "Age" })],
    [
      failures.metricApproximateNumberOfMessagesVisible({ ...maximum, label: "Batches" }),
      logs.sum("DamagedCounts"),
      logs.sum("RepairedCounts"),
      logs.sum("MalformedItems"),
    ],
  ),
];

const publishing = ({ events, counting }: MonitoredResources): IWidget[] => [
  graph("Stream: records read by the pipe and by counting", [
    events.metric("EventCount", { ...sum, label: "Pipe: new items" }),
    counting.sourceMetric("PolledEventCount", { ...sum, label: "Counting: all changes" }),
    counting.sourceMetric("InvokedEventCount", { ...sum, label: "Counting: leads and conversations" }),
  ]),
  graph(
    "Events: failed batches (left), failure queue (right)",
    [
      events.metric("ExecutionFailed", { ...sum, label: "Failed" }),
      events.metric("ExecutionPartiallyFailed", { ...sum, label: "Partially failed" }),
      events.metric("ExecutionThrottled", { ...sum, label: "Throttled" }),
      events.metric("ExecutionTimeout", { ...sum, label: "Timed out" }),
    ],
    [events.failures.metricApproximateNumberOfMessagesVisible({ ...maximum, label: "Batches" })],
  ),
  graph("Events: p99 pipe duration (ms)", [events.metric("Duration", { ...p99, label: "p99" })]),
];

const latestErrors = ({ functions }: MonitoredResources): IWidget =>
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
  });
