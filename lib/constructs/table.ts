import { Validations } from "aws-cdk-lib";
import {
  AttributeType,
  BillingMode,
  ProjectionType,
  StreamViewType,
  Table,
  TableEncryption,
} from "aws-cdk-lib/aws-dynamodb";
import type { Construct } from "constructs";
import { indexes } from "../../shared/dynamodb/keys.ts";
import { stageTableName } from "../../shared/stages.ts";
import type { Config } from "../config/config.ts";

const text = (name: string) => ({ name, type: AttributeType.STRING });

/** The one table, with every index from its first deployment: CloudFormation adds only one an update later. */
export class ServiceTable extends Table {
  constructor(scope: Construct, id: string, config: Config) {
    super(scope, id, {
      tableName: stageTableName(config.stage),
      partitionKey: text("pk"),
      sortKey: text("sk"),
      billingMode: BillingMode.PAY_PER_REQUEST,
      timeToLiveAttribute: "expiresAt",
      stream: StreamViewType.NEW_AND_OLD_IMAGES,
      // The key that AWS owns: nothing here needs a key policy of its own, and KMS would charge for each use.
      encryption: TableEncryption.DEFAULT,
      pointInTimeRecoverySpecification: { pointInTimeRecoveryEnabled: config.pointInTimeRecovery },
      deletionProtection: config.deletionProtection,
      removalPolicy: config.removalPolicy,
    });
    for (const [indexName, attribute] of Object.entries(indexes)) {
      this.addGlobalSecondaryIndex({
        indexName,
        partitionKey: text(attribute),
        sortKey: text("sk"),
        projectionType: ProjectionType.ALL,
      });
    }
    if (config.stage === "dev") this.acknowledgeNoRecovery();
  }

  private acknowledgeNoRecovery() {
    Validations.of(this.node.findChild("Resource")).acknowledge({
      id: "AwsSolutions-DDB3",
      reason: "The data of dev can be made again, and keeping every second of them would be paid for.",
    });
  }
}
