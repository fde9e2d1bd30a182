import { Metric, Stats } from "aws-cdk-lib/aws-cloudwatch";
import type { Table } from "aws-cdk-lib/aws-dynamodb";
import { indexes } from "../../shared/dynamodb/keys.ts";

/** How often the table and each of its indexes turned a read or a write away: under the table's name they are not. */
export function throttleEvents(table: Table, kind: "Read" | "Write"): Metric[] {
  const events = (label: string, index: Record<string, string> = {}) =>
    new Metric({
      namespace: "AWS/DynamoDB",
      metricName: `${kind}ThrottleEvents`,
      dimensionsMap: { TableName: table.tableName, ...index },
      statistic: Stats.SUM,
      label: `${kind}s of ${label}`,
    });
  return [
    events("the table"),
    ...Object.keys(indexes).map((name) => events(name, { GlobalSecondaryIndexName: name })),
  ];
}
