import { Duration, Stack } from "aws-cdk-lib";
import { Metric, type MetricOptions } from "aws-cdk-lib/aws-cloudwatch";
import { EventSourceMapping, FilterCriteria, MetricType, StartingPosition } from "aws-cdk-lib/aws-lambda";
import { Construct } from "constructs";
import { itemTypes } from "../../shared/dynamodb/keys.ts";
import { scheduleFunction } from "./schedule-function.ts";
import { ServiceFunction, type ServiceProps } from "./service-function.ts";
import { FailureQueue, readStreamStatement, streamRetries } from "./stream-reader.ts";

/**
 * Keeps the counts of lists: a function that reads the table's stream, a queue for failed batches, and a function that
 * verifies counts every hour.
 */
export class Counting extends Construct {
  readonly maintainer: ServiceFunction;
  readonly auditor: ServiceFunction;
  readonly failures: FailureQueue;
  readonly source: EventSourceMapping;

  constructor(scope: Construct, id: string, props: ServiceProps) {
    super(scope, id);
    const { streamArn } = props.table;
    this.failures = new FailureQueue(this, "Failures");
    this.maintainer = new ServiceFunction(this, "maintain-counts", {
      ...props,
      // A batch waits until its rows are 2.75 s old, and may then read 25,000 rows of several lists.
      timeout: Duration.seconds(60),
      // One whole core: a batch may change hundreds of lists.
      memorySize: 1769,
      policies: { Stream: [readStreamStatement(streamArn), this.failures.sendStatement()] },
      whyNoQueue: "The event source mapping sends failed batches to its own queue; no event is ever queued.",
    });
    this.source = this.addSource(streamArn);
    this.auditor = new ServiceFunction(this, "audit-counts", {
      ...props,
      // The longest that Lambda allows.
      timeout: Duration.minutes(15),
      whyNoQueue: "The next run goes on where this one ended.",
    });
    scheduleFunction(this, this.auditor, {
      description: `Verifies the counts of ${Stack.of(this).stackName}`,
      scheduleExpression: "rate(1 hour)",
    });
  }

  /**
   * A metric of the event source mapping.
   *
   * @see https://docs.aws.amazon.com/lambda/latest/dg/monitoring-metrics-types.html#event-source-mapping-metrics
   */
  sourceMetric(metricName: string, options?: MetricOptions): Metric {
    const dimensionsMap = { EventSourceMappingUUID: this.source.eventSourceMappingId };
    return new Metric({ namespace: "AWS/Lambda", metricName, dimensionsMap, ...options });
  }

  private addSource(eventSourceArn: string): EventSourceMapping {
    const listed = [itemTypes.lead, itemTypes.conversation].map((type) => ({ prefix: `${type}#` }));
    return new EventSourceMapping(this, "Source", {
      target: this.maintainer.alias,
      eventSourceArn,
      // LATEST can miss records while the mapping is created.
      startingPosition: StartingPosition.TRIM_HORIZON,
      // All changes of a batch to one list are counted together, so large batches make counting cheap.
      batchSize: 10_000,
      maxBatchingWindow: Duration.seconds(1),
      // Parallel batches would hold changes of the same list and conflict on its root.
      parallelizationFactor: 1,
      // Without the filter, the function's own writes to the tree would trigger it again, endlessly.
      filters: [FilterCriteria.filter({ dynamodb: { Keys: { pk: { S: listed } } } })],
      reportBatchItemFailures: true,
      bisectBatchOnError: true,
      retryAttempts: streamRetries.attempts,
      maxRecordAge: streamRetries.maxAge,
      // Without these metrics, nothing tells a mapping that reads nothing from one that has nothing to read.
      metricsConfig: { metrics: [MetricType.EVENT_COUNT] },
      onFailure: { bind: () => ({ destination: this.failures.queueArn }) },
    });
  }
}
