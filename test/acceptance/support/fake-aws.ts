import { randomUUID } from "node:crypto";
import { setTimeout } from "node:timers/promises";
import {
  CloudFormationClient,
  DescribeStackDriftDetectionStatusCommand,
  DescribeStackResourceDriftsCommand,
  DescribeStacksCommand,
  DetectStackDriftCommand,
  type StackResourceDrift,
} from "@aws-sdk/client-cloudformation";
import {
  CloudWatchClient,
  DescribeAlarmHistoryCommand,
  DescribeAlarmsCommand,
  GetMetricDataCommand,
  type MetricAlarm,
  SetAlarmStateCommand,
} from "@aws-sdk/client-cloudwatch";
import { CloudWatchLogsClient, FilterLogEventsCommand } from "@aws-sdk/client-cloudwatch-logs";
import {
  DeleteRuleCommand,
  DescribeEventBusCommand,
  EventBridgeClient,
  ListRulesCommand,
  PutEventsCommand,
  PutRuleCommand,
  PutTargetsCommand,
  RemoveTargetsCommand,
} from "@aws-sdk/client-eventbridge";
import {
  GetFunctionCommand,
  GetFunctionConfigurationCommand,
  LambdaClient,
  UpdateFunctionConfigurationCommand,
} from "@aws-sdk/client-lambda";
import {
  CreateQueueCommand,
  DeleteMessageBatchCommand,
  DeleteQueueCommand,
  GetQueueAttributesCommand,
  ListQueuesCommand,
  ReceiveMessageCommand,
  SetQueueAttributesCommand,
  SQSClient,
} from "@aws-sdk/client-sqs";
import { functionNames } from "../../../lib/bundling/bundle.ts";
import { stageTableName } from "../../../shared/stages.ts";
import { mockClient } from "../../support/mocked-client.ts";
import { readCosts } from "../docs-figures.ts";
import { always } from "../phases/alarms.ts";
import { kinds, requests } from "../phases/cost.ts";

/** What a report of Lambda has, and how many there are of a function. */
const usual = { durationMs: 8, memorySizeMB: 1024, maxMemoryUsedMB: 130 };

interface Detail {
  readonly createdAt: string;
}

interface MetricInput {
  readonly StartTime: Date;
  readonly MetricDataQueries: readonly [{ readonly Id: string }];
}

/** The services of AWS, as far as they are called, of a stage that is as documented until a test changes it. */
export class FakeAws {
  readonly stackName: string;
  readonly url: string;
  /** The names of all calls, such as `SQSClient CreateQueueCommand`. */
  readonly calls = new Set<string>();
  isProtected = false;
  drifts: StackResourceDrift[] = [];
  /** The alarms, by their names without that of the stack. */
  alarms = new Map<string, Partial<MetricAlarm>>();
  actionResult = "Successfully executed action arn:aws:sns:eu-central-1:123456789012:ops";
  /** The age of the stream, in seconds. */
  streamAge = 6;
  /** How many times the documented units a request consumes. */
  unitFactor = 1;
  reports: Record<string, number>[] = [
    usual,
    ...Array.from({ length: 20 }, () => ({ ...usual, initDurationMs: 180 })),
  ];
  latency = 20;
  /** How long after its item an event is sent, in milliseconds. */
  eventDelay = 300;
  /** The messages of the queue, and how each event is changed before. */
  queue: Record<string, unknown>[] = [];
  changeEvent: (event: Record<string, unknown>) => Record<string, unknown> | undefined = (event) => event;
  /** What exists for the run alone. */
  readonly temporary = new Set<string>();
  readonly variables = new Map<string, Record<string, string>>();

  constructor(stage: string, url: string) {
    this.stackName = stageTableName(stage);
    this.url = url;
    for (const name of always) this.alarms.set(name, {});
    this.#cloudFormation();
    this.#cloudWatch();
    this.#lambda();
    this.#sqs();
    this.#events();
  }

  /** Delivers an event to the queue, as long as there is a rule. */
  deliver(event: Record<string, unknown>): void {
    const changed = this.changeEvent(event);
    if (changed && this.temporary.has("rule")) this.queue.push(changed);
  }

  #mock(client: Parameters<typeof mockClient>[0]) {
    const mock = mockClient(client as typeof SQSClient);
    mock.onAnyCommand().rejects(new Error("This call is not expected."));
    const on = (command: unknown, respond: (input: never) => unknown) =>
      mock.on(command as typeof CreateQueueCommand).callsFake(async (input) => {
        this.calls.add((command as { name: string }).name.replace(/Command$/, ""));
        return respond(input as never);
      });
    return on;
  }

  #cloudFormation() {
    const on = this.#mock(CloudFormationClient);
    on(DescribeStacksCommand, () => {
      const outputs = {
        ApiUrl: this.url,
        TableName: this.stackName,
        EventBusName: this.stackName,
        FunctionNames: JSON.stringify(Object.fromEntries(functionNames.map((name) => [name, name]))),
        FunctionLogGroups: JSON.stringify(functionNames.map((name) => `logs-${name}`)),
      };
      const Outputs = Object.entries(outputs).map(([OutputKey, OutputValue]) => ({ OutputKey, OutputValue }));
      return { Stacks: [{ EnableTerminationProtection: this.isProtected, Outputs }] };
    });
    on(DetectStackDriftCommand, () => ({ StackDriftDetectionId: "1" }));
    on(DescribeStackDriftDetectionStatusCommand, () => ({ DetectionStatus: "DETECTION_COMPLETE" }));
    on(DescribeStackResourceDriftsCommand, () => ({ StackResourceDrifts: this.drifts }));
  }

  #cloudWatch() {
    const on = this.#mock(CloudWatchClient);
    on(GetMetricDataCommand, ({ StartTime, MetricDataQueries: [{ Id }] }: MetricInput) => ({
      MetricDataResults: Id === "age" ? [{ Id, Values: [1000 * this.streamAge] }] : this.#units(StartTime),
    }));
    on(DescribeAlarmsCommand, () => ({
      MetricAlarms: Array.from(this.alarms, ([name, alarm]) => ({
        AlarmName: `${this.stackName}-${name}`,
        AlarmActions: ["arn:aws:sns:eu-central-1:123456789012:ops"],
        ActionsEnabled: true,
        StateValue: "OK",
        ...alarm,
      })),
    }));
    on(SetAlarmStateCommand, ({ AlarmName, StateValue }: { AlarmName: string; StateValue: string }) => {
      if (StateValue === "ALARM") this.temporary.add(AlarmName);
      else this.temporary.delete(AlarmName);
    });
    on(DescribeAlarmHistoryCommand, () => ({ AlarmHistoryItems: [{ HistorySummary: this.actionResult }] }));
    const onLogs = this.#mock(CloudWatchLogsClient);
    onLogs(FilterLogEventsCommand, ({ logGroupName }: { logGroupName: string }) => {
      const lines = logGroupName.startsWith("logs-")
        ? this.reports.map((metrics) => ({ type: "platform.report", record: { metrics } }))
        : [
            { routeKey: "GET /api/v1/leads", status: "200", responseLatency: this.latency },
            { routeKey: "GET /api/v1/leads", status: "429", gatewayError: "Too Many Requests" },
          ];
      return { events: lines.map((line) => ({ message: JSON.stringify(line) })) };
    });
  }

  /** The units of the minutes in which the kinds of requests are sent. */
  #units(start: Date) {
    const costs = readCosts();
    const minutes = kinds.map(({ name, of = name, extraReads = 0 }) => {
      const { reads, writes } = costs.get(of) ?? { reads: -extraReads, writes: 0 };
      return { reads: reads + extraReads, writes };
    });
    const Timestamps = minutes.map((_, n) => new Date(start.getTime() + 60_000 * n));
    return (["reads", "writes"] as const).map((name) => ({
      Id: `${name}0`,
      Timestamps,
      Values: minutes.map((units) => this.unitFactor * requests * units[name]),
    }));
  }

  #lambda() {
    const on = this.#mock(LambdaClient);
    type Input = { FunctionName: string; Environment: { Variables: Record<string, string> } };
    const read = (name: string) => this.variables.get(name) ?? { TABLE_NAME: this.stackName };
    on(GetFunctionConfigurationCommand, ({ FunctionName }: Input) => ({
      Environment: { Variables: read(FunctionName) },
    }));
    on(GetFunctionCommand, () => ({ Configuration: { LastUpdateStatus: "Successful" } }));
    on(UpdateFunctionConfigurationCommand, ({ FunctionName, Environment }: Input) => {
      this.variables.set(FunctionName, Environment.Variables);
    });
  }

  #sqs() {
    const on = this.#mock(SQSClient);
    on(CreateQueueCommand, ({ QueueName }: { QueueName: string }) => {
      this.temporary.add("queue");
      return { QueueUrl: `https://sqs/${QueueName}` };
    });
    on(GetQueueAttributesCommand, () => ({
      Attributes: { QueueArn: "arn:aws:sqs:eu-central-1:123456789012:queue" },
    }));
    on(SetQueueAttributesCommand, () => ({}));
    on(ReceiveMessageCommand, async () => {
      // A call waits for messages.
      if (this.queue.length === 0) await setTimeout(100);
      const Messages = this.queue.splice(0, 10).map((event) => ({
        Body: JSON.stringify(event),
        ReceiptHandle: "1",
        Attributes: {
          SentTimestamp: String(Date.parse((event.detail as Detail).createdAt) + this.eventDelay),
        },
      }));
      return { Messages };
    });
    on(DeleteMessageBatchCommand, () => ({}));
    on(ListQueuesCommand, () => ({
      QueueUrls: this.temporary.has("queue") ? ["https://sqs/leads-accept-1"] : [],
    }));
    on(DeleteQueueCommand, () => this.temporary.delete("queue"));
  }

  #events() {
    const on = this.#mock(EventBridgeClient);
    on(PutRuleCommand, () => {
      this.temporary.add("rule");
      return { RuleArn: "arn:aws:events:eu-central-1:123456789012:rule/bus/rule" };
    });
    on(ListRulesCommand, () => ({ Rules: this.temporary.has("rule") ? [{ Name: "leads-accept-1" }] : [] }));
    on(PutTargetsCommand, () => ({ FailedEntryCount: 0 }));
    on(RemoveTargetsCommand, () => ({}));
    on(DeleteRuleCommand, () => this.temporary.delete("rule"));
    on(DescribeEventBusCommand, () => ({}));
    on(
      PutEventsCommand,
      ({ Entries }: { Entries: { Source: string; DetailType: string; Detail: string }[] }) => {
        for (const { Source: source, DetailType, Detail } of Entries)
          this.deliver({
            ...{ version: "0", id: randomUUID(), "detail-type": DetailType, source, account: "123456789012" },
            ...{
              time: new Date().toISOString(),
              region: "eu-central-1",
              resources: [],
              detail: JSON.parse(Detail),
            },
          });
        return { FailedEntryCount: 0, Entries: Entries.map(() => ({})) };
      },
    );
  }
}
