import { Duration } from "aws-cdk-lib";
import { Construct } from "constructs";
import { itemTypes } from "../../shared/dynamodb/keys.ts";
import { scheduleFunction } from "./schedule-function.ts";
import { ServiceFunction, type ServiceProps } from "./service-function.ts";
import { StreamReader } from "./stream-reader.ts";

/** Keeps the counts of lists: a reader of the table's stream, and a function that verifies counts every hour. */
export class Counting extends Construct {
  readonly maintainer: StreamReader;
  readonly auditor: ServiceFunction;

  constructor(scope: Construct, id: string, props: ServiceProps) {
    super(scope, id);
    const listed = [itemTypes.lead, itemTypes.conversation].map((type) => ({ prefix: `${type}#` }));
    this.maintainer = new StreamReader(this, "Maintainer", "maintain-counts", {
      ...props,
      // A batch waits until its rows are 2.75 s old, and may then read 25,000 rows of several lists.
      timeout: Duration.seconds(60),
      // One whole core: a batch may change hundreds of lists.
      memorySize: 1769,
      // All changes of a batch to one list are counted together, so large batches make counting cheap.
      batchSize: 10_000,
      maxBatchingWindow: Duration.seconds(1),
      // Without the filter, the function's own writes to the tree would trigger it again, endlessly.
      filters: [{ dynamodb: { Keys: { pk: { S: listed } } } }],
    });
    this.auditor = new ServiceFunction(this, "audit-counts", {
      ...props,
      // The longest that Lambda allows.
      timeout: Duration.minutes(15),
    });
    scheduleFunction(this, this.auditor, "rate(1 hour)");
  }
}
