import { Duration, Stack } from "aws-cdk-lib";
import { Metric, type MetricOptions } from "aws-cdk-lib/aws-cloudwatch";
import { EventBus } from "aws-cdk-lib/aws-events";
import { PolicyDocument, PolicyStatement, Role, ServicePrincipal } from "aws-cdk-lib/aws-iam";
import { LogGroup } from "aws-cdk-lib/aws-logs";
import { CfnPipe } from "aws-cdk-lib/aws-pipes";
import { Construct } from "constructs";
import { changeTypes, eventSource, eventTypes } from "../../shared/domain/events.ts";
import type { Config } from "../config/config.ts";
import { ServiceFunction, type ServiceProps } from "./service-function.ts";
import { FailureQueue, readStreamStatement, streamRetries } from "./stream-reader.ts";

/** Publishes new leads, conversations and messages, and changed and erased ones, to an event bus, for which channel connectors define rules. */
export class EventPipe extends Construct {
  readonly bus: EventBus;
  readonly composer: ServiceFunction;
  readonly failures: FailureQueue;
  /** The name of the bus and of the pipe. */
  private readonly name = Stack.of(this).stackName;

  constructor(scope: Construct, id: string, props: ServiceProps) {
    super(scope, id);
    const { streamArn } = props.table;
    this.bus = new EventBus(this, "Bus", {
      eventBusName: this.name,
      description: "New leads, conversations and messages, changes and erased leads: docs/events.md",
    });
    const { eventArchiveDays } = props.config;
    if (eventArchiveDays !== undefined) this.archiveFor(eventArchiveDays);
    this.failures = new FailureQueue(this, "Failures");
    this.composer = new ServiceFunction(this, "compose-events", {
      ...props,
      // It maps a few objects; loading the code takes most of its time.
      timeout: Duration.seconds(10),
      whyNoQueue: "The pipe calls the function synchronously and sends failed batches to its own queue.",
    });
    new CfnPipe(this, "Pipe", {
      name: this.name,
      roleArn: this.createRole(streamArn).roleArn,
      source: streamArn,
      sourceParameters: this.sourceParameters(),
      enrichment: this.composer.alias.functionArn,
      target: this.bus.eventBusArn,
      targetParameters: {
        // A path into the composed event, so that one pipe carries every type.
        eventBridgeEventBusParameters: { source: eventSource, detailType: "$.type" },
      },
      logConfiguration: this.logErrors(props.config),
    });
  }

  /** A metric of the pipe. It has no data while nothing happens. */
  metric(metricName: string, options?: MetricOptions): Metric {
    const dimensionsMap = { PipeName: this.name };
    return new Metric({ namespace: "AWS/EventBridge/Pipes", metricName, dimensionsMap, ...options });
  }

  /** Keeps the events of this service, so that EventBridge can send them again. */
  private archiveFor(days: number): void {
    this.bus.archive("Archive", {
      archiveName: this.name,
      eventPattern: { source: [eventSource] },
      retention: Duration.days(days),
    });
  }

  private sourceParameters(): CfnPipe.PipeSourceParametersProperty {
    const keysOf = (types: ReadonlyMap<string, unknown>) => ({
      pk: { S: [...types.keys()].map((type) => ({ prefix: `${type}#` })) },
    });
    const created = { eventName: ["INSERT"], dynamodb: { Keys: keysOf(eventTypes) } };
    // A message removes the id, so it does not pass.
    const NewImage = { changeId: { S: [{ prefix: "change_" }] } };
    const changed = { eventName: ["MODIFY"], dynamodb: { Keys: keysOf(changeTypes), NewImage } };
    return {
      filterCriteria: { filters: [created, changed].map((each) => ({ pattern: JSON.stringify(each) })) },
      dynamoDbStreamParameters: {
        // LATEST can miss records while the pipe is created.
        startingPosition: "TRIM_HORIZON",
        // The most events that one PutEvents call accepts.
        batchSize: 10,
        // Events have no guaranteed order, and five batches at a time keep up with the write limit of a shard.
        parallelizationFactor: 5,
        onPartialBatchItemFailure: "AUTOMATIC_BISECT",
        maximumRetryAttempts: streamRetries.attempts,
        maximumRecordAgeInSeconds: streamRetries.maxAge.toSeconds(),
        deadLetterConfig: { arn: this.failures.queueArn },
      },
    };
  }

  private createRole(streamArn: string): Role {
    const { account, partition, region } = Stack.of(this);
    const pipeArn = `arn:${partition}:pipes:${region}:${account}:pipe/${this.name}`;
    const statements = [
      readStreamStatement(streamArn),
      new PolicyStatement({
        actions: ["lambda:InvokeFunction"],
        resources: [this.composer.lambda.functionArn, this.composer.alias.functionArn],
      }),
      new PolicyStatement({ actions: ["events:PutEvents"], resources: [this.bus.eventBusArn] }),
      this.failures.sendStatement(),
    ];
    return new Role(this, "Role", {
      assumedBy: new ServicePrincipal("pipes.amazonaws.com", {
        conditions: { StringEquals: { "aws:SourceAccount": account, "aws:SourceArn": pipeArn } },
      }),
      inlinePolicies: { Pipe: new PolicyDocument({ statements }) },
    });
  }

  /** Logs errors without execution data, which would contain the messages. */
  private logErrors({ logRetentionDays, removalPolicy }: Config): CfnPipe.PipeLogConfigurationProperty {
    const { logGroupArn } = new LogGroup(this, "Logs", {
      logGroupName: `/aws/vendedlogs/pipes/${this.name}`,
      retention: logRetentionDays,
      removalPolicy,
    });
    return { cloudwatchLogsLogDestination: { logGroupArn }, level: "ERROR" };
  }
}
