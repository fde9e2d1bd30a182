import { Duration } from "aws-cdk-lib";
import type { Table } from "aws-cdk-lib/aws-dynamodb";
import { EventSourceMapping, FilterCriteria, type IFunction, StartingPosition } from "aws-cdk-lib/aws-lambda";
import type { Queue } from "aws-cdk-lib/aws-sqs";
import { Construct } from "constructs";
import { itemTypes } from "../../shared/dynamodb/keys.ts";
import { FailureQueue } from "./failure-queue.ts";
import type { FunctionSettings } from "./service-function.ts";
import { readStreamStatement, sendStatement } from "./stream-statements.ts";

interface CountingProps {
  readonly table: Table;
  /** Gives the function that keeps the counts; called once. */
  readonly maintainer: (settings: FunctionSettings) => IFunction;
}

/** The way of the table's changes to the function that keeps the counts, and what becomes of those that fail. */
export class Counting extends Construct {
  readonly maintainer: IFunction;
  /** Holds each batch of changes that was given up. */
  readonly failures: Queue;

  constructor(scope: Construct, id: string, { table, maintainer }: CountingProps) {
    super(scope, id);
    const streamArn = String(table.tableStreamArn);
    this.failures = new FailureQueue(this, "Failures");
    this.maintainer = maintainer({
      // A batch waits 5 s for its burst to settle, and may then have 25,000 rows of several lists to read.
      timeout: Duration.seconds(60),
      // One whole core: a batch may touch hundreds of lists at once.
      memorySize: 1769,
      policies: { Stream: [readStreamStatement(streamArn), sendStatement(this.failures.queueArn)] },
      whyNoQueue: "The source of its stream sends what fails to a queue of its own; no event is ever queued.",
    });
    this.addSource(this.maintainer, streamArn, this.failures);
  }

  private addSource(target: IFunction, eventSourceArn: string, failures: Queue) {
    const listed = [itemTypes.lead, itemTypes.conversation].map((type) => ({ prefix: `${type}#` }));
    new EventSourceMapping(this, "Source", {
      target,
      eventSourceArn,
      // The newest position can miss records while the source is created.
      startingPosition: StartingPosition.TRIM_HORIZON,
      // All that a burst changes in a list is counted together, so large batches make counting cheap.
      batchSize: 10_000,
      maxBatchingWindow: Duration.seconds(1),
      // More at once would split a list's changes by item, and its maintainers would meet on one root.
      parallelizationFactor: 1,
      // The tree's own nodes would bring the function back for ever.
      filters: [FilterCriteria.filter({ dynamodb: { Keys: { pk: { S: listed } } } })],
      reportBatchItemFailures: true,
      bisectBatchOnError: true,
      retryAttempts: 10,
      // As long as the stream itself keeps them.
      maxRecordAge: Duration.hours(24),
      onFailure: { bind: () => ({ destination: failures.queueArn }) },
    });
  }
}
