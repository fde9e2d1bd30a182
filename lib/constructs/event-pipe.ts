import { Duration, Stack } from "aws-cdk-lib";
import { Metric, type MetricOptions } from "aws-cdk-lib/aws-cloudwatch";
import type { Table } from "aws-cdk-lib/aws-dynamodb";
import { EventBus } from "aws-cdk-lib/aws-events";
import { PolicyDocument, PolicyStatement, Role, ServicePrincipal } from "aws-cdk-lib/aws-iam";
import type { IFunction } from "aws-cdk-lib/aws-lambda";
import { LogGroup } from "aws-cdk-lib/aws-logs";
import { CfnPipe } from "aws-cdk-lib/aws-pipes";
import type { Queue } from "aws-cdk-lib/aws-sqs";
import { Construct } from "constructs";
import { eventTypes } from "../../shared/domain/events.ts";
import type { Config } from "../config/config.ts";
import { FailureQueue } from "./failure-queue.ts";
import type { FunctionSettings } from "./service-function.ts";
import { readStreamStatement, sendStatement } from "./stream-statements.ts";

interface EventPipeProps {
  readonly config: Config;
  /** Of the bus and of the pipe. */
  readonly name: string;
  readonly table: Table;
  /** Gives the function that makes events of the table's new items; called once. */
  readonly composer: (settings: FunctionSettings) => IFunction;
}

/** Every event's `source`; the bus says which stage it is of. */
const eventSource = "leads-and-conversations";

/** The way of new leads, conversations and messages to an event bus, on which connectors of channels have rules. */
export class EventPipe extends Construct {
  readonly bus: EventBus;
  /** Holds each batch of new items of which no events were put on the bus. */
  readonly failures: Queue;
  private readonly name: string;

  constructor(scope: Construct, id: string, { config, name, table, composer }: EventPipeProps) {
    super(scope, id);
    this.name = name;
    this.bus = new EventBus(this, "Bus", {
      eventBusName: name,
      description: "New leads, conversations and messages: docs/events.md",
    });
    this.failures = new FailureQueue(this, "Failures");
    const enrichment = composer({
      // It makes a few objects of a few others; loading it takes most of its time.
      timeout: Duration.seconds(10),
      whyNoQueue: "The pipe calls the function synchronously, and sends what fails to a queue of its own.",
    });
    const streamArn = String(table.tableStreamArn);
    new CfnPipe(this, "Pipe", {
      name,
      roleArn: this.createRole(streamArn, enrichment).roleArn,
      source: streamArn,
      sourceParameters: this.sourceParameters(),
      enrichment: enrichment.functionArn,
      target: this.bus.eventBusArn,
      targetParameters: {
        // The path leads into what the function answers, so that one pipe carries every type.
        eventBridgeEventBusParameters: { source: eventSource, detailType: "$.type" },
      },
      logConfiguration: this.logErrors(config),
    });
  }

  /** A metric of the pipe; all are silent when nothing happens. */
  metric(metricName: string, options?: MetricOptions): Metric {
    const dimensionsMap = { PipeName: this.name };
    return new Metric({ namespace: "AWS/EventBridge/Pipes", metricName, dimensionsMap, ...options });
  }

  private sourceParameters(): CfnPipe.PipeSourceParametersProperty {
    const prefixes = [...eventTypes.keys()].map((type) => ({ prefix: `${type}#` }));
    const pattern = JSON.stringify({ eventName: ["INSERT"], dynamodb: { Keys: { pk: { S: prefixes } } } });
    return {
      filterCriteria: { filters: [{ pattern }] },
      dynamoDbStreamParameters: {
        // The newest position can miss records while the pipe is created.
        startingPosition: "TRIM_HORIZON",
        // As many as one call may put on a bus.
        batchSize: 10,
        // Nobody is promised an order, and five at once keep up with all that a shard can be written.
        parallelizationFactor: 5,
        onPartialBatchItemFailure: "AUTOMATIC_BISECT",
        // As often, and as long, as EventBridge itself tries to deliver: hours, in which a fault can be mended.
        maximumRetryAttempts: 185,
        maximumRecordAgeInSeconds: Duration.hours(24).toSeconds(),
        deadLetterConfig: { arn: this.failures.queueArn },
      },
    };
  }

  private createRole(streamArn: string, enrichment: IFunction): Role {
    const { account, partition, region } = Stack.of(this);
    const pipeArn = `arn:${partition}:pipes:${region}:${account}:pipe/${this.name}`;
    const statements = [
      readStreamStatement(streamArn),
      new PolicyStatement({ actions: ["lambda:InvokeFunction"], resources: [enrichment.functionArn] }),
      new PolicyStatement({ actions: ["events:PutEvents"], resources: [this.bus.eventBusArn] }),
      sendStatement(this.failures.queueArn),
    ];
    return new Role(this, "Role", {
      assumedBy: new ServicePrincipal("pipes.amazonaws.com", {
        conditions: { StringEquals: { "aws:SourceAccount": account, "aws:SourceArn": pipeArn } },
      }),
      inlinePolicies: { Pipe: new PolicyDocument({ statements }) },
    });
  }

  /** Without execution data: they would be the messages themselves. */
  private logErrors({ logRetentionDays, removalPolicy }: Config): CfnPipe.PipeLogConfigurationProperty {
    const { logGroupArn } = new LogGroup(this, "Logs", {
      logGroupName: `/aws/vendedlogs/pipes/${this.name}`,
      retention: logRetentionDays,
      removalPolicy,
    });
    return { cloudwatchLogsLogDestination: { logGroupArn }, level: "ERROR" };
  }
}
