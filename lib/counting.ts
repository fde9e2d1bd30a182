import { Duration } from "aws-cdk-lib";
import { Alarm, ComparisonOperator, Stats, TreatMissingData } from "aws-cdk-lib/aws-cloudwatch";
import type { Table } from "aws-cdk-lib/aws-dynamodb";
import { PolicyStatement } from "aws-cdk-lib/aws-iam";
import { EventSourceMapping, FilterCriteria, type IFunction, StartingPosition } from "aws-cdk-lib/aws-lambda";
import { Construct } from "constructs";
import { itemTypes } from "../shared/keys.ts";
import { FailureQueue } from "./failure-queue.ts";
import type { FunctionSettings } from "./service-function.ts";

interface CountingProps {
  readonly table: Table;
  /** Gives the function that keeps the counts; called once. */
  readonly maintainer: (settings: FunctionSettings) => IFunction;
}

/** The way of the table's changes to the function that keeps the counts, and what becomes of those that fail. */
export class Counting extends Construct {
  constructor(scope: Construct, id: string, { table, maintainer }: CountingProps) {
    super(scope, id);
    const streamArn = String(table.tableStreamArn);
    const failures = new FailureQueue(this, "Failures");
    const target = maintainer({
      // A batch waits 5 s for its burst to settle, and may then have 25,000 rows of several lists to read.
      timeout: Duration.seconds(60),
      // One whole core: a batch may touch hundreds of lists at once.
      memorySize: 1769,
      policies: { Stream: [readStatement(streamArn), sendStatement(failures.queueArn)] },
      failures: "The source of its stream sends what fails to a queue of its own; no event is ever queued.",
    });
    this.addSource(target, streamArn, failures);
    this.addAlarm(failures);
  }

  private addSource(target: IFunction, eventSourceArn: string, failures: FailureQueue) {
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

  private addAlarm(failures: FailureQueue) {
    new Alarm(this, "FailureAlarm", {
      alarmDescription:
        "maintain-counts gave up a batch of the table's stream, so filtered totals may be wrong, and unfiltered ones by what was deleted or imported. " +
        'Its log names the accounts ("counts failed"). For each run `npm run ops -- counts verify`, and `npm run ops -- counts rebuild` if that finds a difference; then purge the queue.',
      metric: failures.metricApproximateNumberOfMessagesVisible({
        period: Duration.minutes(1),
        statistic: Stats.MAXIMUM,
      }),
      threshold: 1,
      evaluationPeriods: 1,
      comparisonOperator: ComparisonOperator.GREATER_THAN_OR_EQUAL_TO_THRESHOLD,
      // CloudWatch hears nothing of a queue that nobody uses.
      treatMissingData: TreatMissingData.NOT_BREACHING,
    });
  }
}

/** Written out because the table's `grantStreamRead` allows listing the streams of every table. */
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

const sendStatement = (queueArn: string) =>
  new PolicyStatement({ actions: ["sqs:SendMessage"], resources: [queueArn] });
