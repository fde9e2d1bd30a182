import { Stack, Validations } from "aws-cdk-lib";
import { PolicyStatement } from "aws-cdk-lib/aws-iam";
import { LogGroup } from "aws-cdk-lib/aws-logs";
import { AwsCustomResource, AwsCustomResourcePolicy, PhysicalResourceId } from "aws-cdk-lib/custom-resources";
import { Construct } from "constructs";
import { releaseKey } from "../../shared/dynamodb/keys.ts";
import { recordRelease } from "../../shared/dynamodb/stored-release.ts";
import type { Config } from "../config/config.ts";
import type { ServiceTable } from "./table.ts";

/** Writes the release into the table with each deployment, and again when CloudFormation takes one back. */
export class ReleaseRecord extends Construct {
  constructor(scope: Construct, id: string, config: Config, table: ServiceTable) {
    super(scope, id);
    const { release, logRetentionDays: retention, removalPolicy } = config;
    const update = new PolicyStatement({
      actions: ["dynamodb:UpdateItem"],
      resources: [table.tableArn],
      conditions: {
        "ForAllValues:StringEquals": { "dynamodb:LeadingKeys": [releaseKey.pk] },
        Null: { "dynamodb:LeadingKeys": "false" },
      },
    });
    new AwsCustomResource(this, "Item", {
      onUpdate: {
        service: "DynamoDB",
        action: "UpdateItem",
        parameters: recordRelease(table.tableName, release),
        physicalResourceId: PhysicalResourceId.of(releaseKey.pk),
      },
      policy: AwsCustomResourcePolicy.fromStatements([update]),
      installLatestAwsSdk: false,
      memorySize: 256,
      logGroup: new LogGroup(this, "Logs", { retention, removalPolicy }),
    });
    this.acknowledgeFindings();
  }

  private acknowledgeFindings() {
    const provider = Stack.of(this).node.findChild(
      `AWS${AwsCustomResource.PROVIDER_FUNCTION_UUID.replaceAll("-", "")}`,
    );
    Validations.of(provider.node.findChild("ServiceRole").node.findChild("Resource")).acknowledge({
      id: "AwsSolutions-IAM4[Policy::arn:<AWS::Partition>:iam::aws:policy/service-role/AWSLambdaBasicExecutionRole]",
      reason: "The CDK creates the role of its custom resources; the policy only lets them write logs.",
    });
    for (const id of ["Serverless-LambdaDLQ", "Serverless-LambdaTracing"])
      Validations.of(provider.node.findChild("Resource")).acknowledge({
        id,
        reason: "CloudFormation runs the function once in a deployment, which shows a failure.",
      });
  }
}
