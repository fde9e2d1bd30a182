import { Duration } from "aws-cdk-lib";
import { PolicyStatement } from "aws-cdk-lib/aws-iam";
import { EventSourceMapping, FilterCriteria, StartingPosition } from "aws-cdk-lib/aws-lambda";
import { Construct } from "constructs";
import type { FunctionName } from "../bundling/bundle.ts";
import { DeadLetterQueue } from "./dead-letter-queue.ts";
import { ServiceFunction, type ServiceFunctionProps } from "./service-function.ts";

interface StreamReaderProps extends ServiceFunctionProps {
  readonly batchSize: number;
  /** How long records are gathered into a batch. */
  readonly maxBatchingWindow?: Duration;
  /** Only records that match one of these patterns are read. */
  readonly filters: readonly Readonly<Record<string, unknown>>[];
}

/** A function that reads the table's stream. */
export class StreamReader extends Construct {
  readonly fn: ServiceFunction;
  readonly source: EventSourceMapping;
  /** Failed batches. */
  readonly failures: DeadLetterQueue;

  constructor(scope: Construct, id: string, name: FunctionName, props: StreamReaderProps) {
    super(scope, id);
    const { streamArn } = props.table;
    this.failures = new DeadLetterQueue(scope, "Failures");
    const { queueArn } = this.failures;
    const sendFailures = new PolicyStatement({ actions: ["sqs:SendMessage"], resources: [queueArn] });
    this.fn = new ServiceFunction(this, name, {
      ...props,
      statements: [...(props.statements ?? []), readStatement(streamArn), sendFailures],
    });
    this.source = new EventSourceMapping(this, "Source", {
      target: this.fn.alias,
      eventSourceArn: streamArn,
      // LATEST can miss records while the mapping is created.
      startingPosition: StartingPosition.TRIM_HORIZON,
      batchSize: props.batchSize,
      ...(props.maxBatchingWindow && { maxBatchingWindow: props.maxBatchingWindow }),
      // Parallel batches of a shard keep the order of an item only, and would conflict on the root of a list.
      parallelizationFactor: 1,
      filters: props.filters.map((filter) => FilterCriteria.filter(filter)),
      reportBatchItemFailures: true,
      bisectBatchOnError: true,
      // Only age limits the retries, because AWS does not document the pauses between them
      // (docs/assumptions.md#retry-pauses). -1 means unlimited, and is set so that an update removes an earlier limit.
      retryAttempts: -1,
      // After half of the stream's 24 hours, the batch goes to the failure queue while the stream still has it.
      maxRecordAge: Duration.hours(12),
      onFailure: { bind: () => ({ destination: queueArn }) },
    });
  }
}

/** Allows reading the stream. The table's `grantStreamRead` would also allow listing the streams of every table. */
const readStatement = (streamArn: string) =>
  new PolicyStatement({
    actions: [
      "dynamodb:DescribeStream",
      "dynamodb:GetRecords",
      "dynamodb:GetShardIterator",
      "dynamodb:ListStreams",
    ],
    resources: [streamArn],
  });
