import { RemovalPolicy, Tags, Validations } from "aws-cdk-lib";
import { Metric, Stats } from "aws-cdk-lib/aws-cloudwatch";
import * as dynamodb from "aws-cdk-lib/aws-dynamodb";
import type { Construct } from "constructs";
import { dataFormat, dataFormatTag } from "../../shared/dynamodb/data-format.ts";
import { expiryAttribute, indexes } from "../../shared/dynamodb/keys.ts";
import { stageResourceName } from "../../shared/stages.ts";
import type { Config } from "../config/config.ts";

const textAttribute = (name: string) => ({ name, type: dynamodb.AttributeType.STRING });

/** The one table. It starts with every index because a CloudFormation update can add only one. */
export class ServiceTable extends dynamodb.Table {
  /** The CDK's `tableStreamArn` is optional because other tables have no stream. */
  readonly streamArn = String(this.tableStreamArn);

  constructor(scope: Construct, id: string, config: Config) {
    const keepsData = config.removalPolicy !== RemovalPolicy.DESTROY;
    super(scope, id, {
      tableName: stageResourceName(config.stage),
      partitionKey: textAttribute("pk"),
      sortKey: textAttribute("sk"),
      billingMode: dynamodb.BillingMode.PAY_PER_REQUEST,
      timeToLiveAttribute: expiryAttribute,
      stream: dynamodb.StreamViewType.NEW_AND_OLD_IMAGES,
      // An AWS owned key: the table needs no key policy of its own, and KMS would charge for each use of another key.
      encryption: dynamodb.TableEncryption.DEFAULT,
      pointInTimeRecoverySpecification: { pointInTimeRecoveryEnabled: keepsData },
      deletionProtection: config.isProtected,
      removalPolicy: config.removalPolicy,
    });
    for (const [indexName, { partition, sort, copies }] of Object.entries(indexes))
      this.addGlobalSecondaryIndex({
        indexName,
        partitionKey: textAttribute(partition),
        sortKey: textAttribute(sort),
        projectionType: dynamodb.ProjectionType.INCLUDE,
        nonKeyAttributes: copies.filter((attribute) => attribute !== partition),
      });
    Tags.of(this).add(dataFormatTag, String(dataFormat));
    if (!keepsData)
      Validations.of(this.node.findChild("Resource")).acknowledge({
        id: "AwsSolutions-DDB3",
        reason: "The stage deletes its data with its stack, and continuous backups are charged for.",
      });
  }

  /** Throttled reads or writes, of the table and of each index: the table's own metric does not include its indexes. */
  metricThrottleEvents(kind: "Read" | "Write"): Metric[] {
    const ofIndexes = Object.keys(indexes).map((GlobalSecondaryIndexName) => ({ GlobalSecondaryIndexName }));
    return [{}, ...ofIndexes].map(
      (ofIndex) =>
        new Metric({
          namespace: "AWS/DynamoDB",
          metricName: `${kind}ThrottleEvents`,
          dimensionsMap: { TableName: this.tableName, ...ofIndex },
          statistic: Stats.SUM,
        }),
    );
  }
}
