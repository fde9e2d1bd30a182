import { randomUUID } from "node:crypto";
import { setTimeout } from "node:timers/promises";
import {
  CloudFormationClient,
  DescribeStackDriftDetectionStatusCommand,
  DescribeStackResourceDriftsCommand,
  DescribeStacksCommand,
  DetectStackDriftCommand,
  ListStackResourcesCommand,
  type StackResourceDrift,
} from "@aws-sdk/client-cloudformation";
import {
  type AlarmHistoryItem,
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
  ListQueuesCommand,
  ReceiveMessageCommand,
  SQSClient,
} from "@aws-sdk/client-sqs";
import { expect } from "vitest";
import { functionNames } from "../../../lib/bundling/bundle.ts";
import { stageTableName } from "../../../shared/stages.ts";
import { mockClient } from "../../support/mocked-client.ts";
import { readCosts } from "../docs-figures.ts";
import { kinds } from "../phases/cost.ts";

/** Some alarms of the stack. */
const alarmNames = ["server-errors", "slow-answers", "stream-age"];

/** What a report of Lambda has, and how many there are of a function. */
const usual = { durationMs: 8, memorySizeMB: 1024, maxMemoryUsedMB: 130 };

interface Detail {
  readonly account: string;
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
  /** The alarms, by their names without that of the stack: others than the stack's have names that begin like it. */
  alarms = new Map<string, Partial<MetricAlarm>>(alarmNames.map((name) => [name, {}]));
  /** What CloudWatch has of the action when an alarm is raised; undefined if it ran none. */
  actionResult: string | undefined = "Successfully executed action arn:aws:sns:eu-central-1:123456789012:ops";
  /** The last states that were set, by the names of alarms. */
  readonly states = new Map<string, string>();
  /** What happened to all alarms, the newest first. */
  #history: AlarmHistoryItem[] = [];
  /** The age of the stream, in seconds. */
  streamAge = 6;
  /** How many requests of a kind are sent in a minute, and how many times the documented units each consumes. */
  requestsOfKind = 0;
  unitFactor = 1;
  /** Whether CloudWatch has the units of the table. */
  hasUnits = true;
  reports: Record<string, number>[] = [
    usual,
    ...Array.from({ length: 20 }, () => ({ ...usual, initDurationMs: 180 })),
  ];
  latency = 20;
  /** The latency of three requests of a hundred, and whether the log has requests that the throttle refused. */
  slowest = 40;
  /** How many lists of conversations the log has. */
  conversationLists = 100;
  isThrottled = true;
  /** How long after its item an event is sent, in milliseconds. */
  eventDelay = 300;
  /** The messages of the queue, and how each event is changed before. */
  queue: Record<string, unknown>[] = [];
  changeEvent: (event: Record<string, unknown>) => Record<string, unknown> | undefined = (event) => event;
  /** A call that finds no messages waits for some. */
  waitForMessages = (): Promise<unknown> => setTimeout(100);
  failedTargets = 0;
  /** The account of the events that the rule matches. */
  #account = "";
  /** What exists for the run alone: alarms that are raised, and the names of rules and of queues. */
  readonly temporary = new Set<string>();
  readonly variables = new Map<string, Record<string, string>>();
  /** The functions whose last change is known to be made. */
  readonly #updated = new Set<string>();
  /** Called before a function is changed. */
  onUpdate: (name: string) => unknown = () => {};
  showsVariables = true;
  /** A function whose environments start in twice the time, and whether the list of rules is denied. */
  slowStart = "";
  failsRules = false;

  constructor(stage: string, url: string) {
    this.stackName = stageTableName(stage);
    this.url = url;
    this.#cloudFormation();
    this.#cloudWatch();
    this.#lambda();
    this.#sqs();
    this.#events();
  }

  /** Delivers an event to the queue, as long as there is a rule for its account. */
  deliver(event: Record<string, unknown>): void {
    const isRule = (name: string) => name.startsWith("rule ");
    if ((event.detail as Detail).account !== this.#account || ![...this.temporary].some(isRule)) return;
    const changed = this.changeEvent(event);
    if (changed) this.queue.push(changed);
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
    on(ListStackResourcesCommand, () => ({
      StackResourceSummaries: [
        { ResourceType: "AWS::Logs::LogGroup", PhysicalResourceId: "logs" },
        ...alarmNames
          .map((name) => `${this.stackName}-${name}`)
          .map((name) => ({ ResourceType: "AWS::CloudWatch::Alarm", PhysicalResourceId: name })),
      ],
    }));
    on(DetectStackDriftCommand, () => ({ StackDriftDetectionId: "1" }));
    on(DescribeStackDriftDetectionStatusCommand, () => ({ DetectionStatus: "DETECTION_COMPLETE" }));
    on(DescribeStackResourceDriftsCommand, () => ({ StackResourceDrifts: this.drifts }));
  }

  #cloudWatch() {
    const on = this.#mock(CloudWatchClient);
    on(GetMetricDataCommand, ({ StartTime, MetricDataQueries: [{ Id }] }: MetricInput) => ({
      MetricDataResults: Id === "age" ? [{ Id, Values: [1000 * this.streamAge] }] : this.#units(StartTime),
    }));
    on(DescribeAlarmsCommand, ({ AlarmNames }: { AlarmNames: readonly string[] }) => {
      const MetricAlarms = Array.from(this.alarms, ([name, alarm]) => ({
        AlarmName: `${this.stackName}-${name}`,
        AlarmActions: ["arn:aws:sns:eu-central-1:123456789012:ops"],
        ActionsEnabled: true,
        StateValue: "OK",
        ...alarm,
      })).filter(({ AlarmName }) => AlarmNames.includes(AlarmName));
      return { MetricAlarms };
    });
    on(SetAlarmStateCommand, ({ AlarmName, StateValue }: { AlarmName: string; StateValue: string }) => {
      const isRaised = StateValue === "ALARM";
      this.states.set(AlarmName, StateValue);
      if (isRaised) this.temporary.add(AlarmName);
      else this.temporary.delete(AlarmName);
      const note = (HistoryItemType: "StateUpdate" | "Action", HistorySummary: string | undefined) => {
        if (HistorySummary === undefined) return;
        const Timestamp = new Date(1 + this.#history.length);
        this.#history.unshift({ AlarmName, HistoryItemType, HistorySummary, Timestamp });
      };
      note("StateUpdate", `Alarm updated from ${isRaised ? "OK" : "ALARM"} to ${StateValue}`);
      note("Action", isRaised ? this.actionResult : "Successfully executed action arn:aws:sns:eu:1:ops");
    });
    on(DescribeAlarmHistoryCommand, ({ AlarmName }: { AlarmName: string }) => ({
      AlarmHistoryItems: this.#history.filter((item) => item.AlarmName === AlarmName),
    }));
    const onLogs = this.#mock(CloudWatchLogsClient);
    type Reading = { logGroupName: string; endTime?: number };
    onLogs(FilterLogEventsCommand, ({ logGroupName, endTime }: Reading) => {
      const latencies = Array.from({ length: 100 }, (_, n) => (n < 3 ? this.slowest : this.latency));
      // After that time, environments are started.
      if (endTime === undefined) latencies.fill(3000, 0, 10);
      const lines = logGroupName.startsWith("logs-")
        ? this.reports.map(({ initDurationMs, ...metrics }) => {
            const factor = logGroupName === `logs-${this.slowStart}` ? 2 : 1;
            const init = initDurationMs && { initDurationMs: factor * initDurationMs };
            return { type: "platform.report", record: { metrics: { ...metrics, ...init } } };
          })
        : [
            ...latencies.map((responseLatency) => ({
              routeKey: "GET /api/v1/leads",
              status: "200",
              responseLatency,
            })),
            ...Array.from({ length: this.conversationLists }, () => ({
              routeKey: "GET /api/v1/conversations",
              status: "200",
              responseLatency: this.latency,
            })),
            this.isThrottled && { routeKey: "-", status: "429", gatewayError: "Too Many Requests" },
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
      Id: `${name}${this.hasUnits ? 0 : 1}`,
      Timestamps,
      Values: minutes.map((units) => this.unitFactor * this.requestsOfKind * units[name]),
    }));
  }

  #lambda() {
    const on = this.#mock(LambdaClient);
    type Input = { FunctionName: string; Environment: { Variables: Record<string, string> } };
    const read = (name: string) => this.variables.get(name) ?? { TABLE_NAME: this.stackName };
    on(GetFunctionConfigurationCommand, ({ FunctionName }: Input) => ({
      Environment: this.showsVariables ? { Variables: read(FunctionName) } : {},
    }));
    on(GetFunctionCommand, ({ FunctionName }: Input) => {
      this.#updated.add(FunctionName);
      return { Configuration: { LastUpdateStatus: "Successful" } };
    });
    on(UpdateFunctionConfigurationCommand, async ({ FunctionName, Environment }: Input) => {
      if (!this.#updated.delete(FunctionName)) throw new Error("An update is in progress.");
      await this.onUpdate(FunctionName);
      this.variables.set(FunctionName, Environment.Variables);
    });
  }

  #sqs() {
    const on = this.#mock(SQSClient);
    on(
      CreateQueueCommand,
      ({ QueueName, Attributes }: { QueueName: string; Attributes: { Policy: string } }) => {
        const [{ Resource, Condition }] = JSON.parse(Attributes.Policy).Statement;
        expect([Resource, Condition.ArnEquals["aws:SourceArn"]]).toEqual([
          `arn:aws:sqs:eu-central-1:123456789012:${QueueName}`,
          `arn:aws:events:eu-central-1:123456789012:rule/bus/${QueueName}`,
        ]);
        this.temporary.add(`queue ${QueueName}`);
        return { QueueUrl: `https://sqs/${QueueName}` };
      },
    );
    on(ReceiveMessageCommand, async () => {
      if (this.queue.length === 0) await this.waitForMessages();
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
    on(ListQueuesCommand, ({ QueueNamePrefix }: { QueueNamePrefix: string }) => ({
      QueueUrls: this.#named("queue", QueueNamePrefix).map((name) => `https://sqs/${name}`),
    }));
    on(DeleteQueueCommand, ({ QueueUrl }: { QueueUrl: string }) =>
      this.temporary.delete(`queue ${QueueUrl.split("/").at(-1)}`),
    );
  }

  /** The names of queues or rules that begin with a prefix. */
  #named(kind: "queue" | "rule", prefix: string): string[] {
    const names = [...this.temporary].filter((name) => name.startsWith(`${kind} ${prefix}`));
    return names.map((name) => name.slice(kind.length + 1));
  }

  #events() {
    const on = this.#mock(EventBridgeClient);
    on(PutRuleCommand, ({ Name, EventPattern }: { Name: string; EventPattern: string }) => {
      [this.#account] = JSON.parse(EventPattern).detail.account;
      this.temporary.add(`rule ${Name}`);
      return { RuleArn: `arn:aws:events:eu-central-1:123456789012:rule/bus/${Name}` };
    });
    on(ListRulesCommand, ({ NamePrefix }: { NamePrefix: string }) => {
      if (this.failsRules) throw new Error("not authorized to perform: events:ListRules");
      return { Rules: this.#named("rule", NamePrefix).map((Name) => ({ Name })) };
    });
    on(PutTargetsCommand, () => ({
      FailedEntryCount: this.failedTargets,
      FailedEntries: [{ ErrorMessage: "no access" }],
    }));
    on(RemoveTargetsCommand, () => ({}));
    on(DeleteRuleCommand, ({ Name }: { Name: string }) => this.temporary.delete(`rule ${Name}`));
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
