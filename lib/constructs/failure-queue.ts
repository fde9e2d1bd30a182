import { Duration, Validations } from "aws-cdk-lib";
import { Queue } from "aws-cdk-lib/aws-sqs";
import type { Construct } from "constructs";

/** A queue that keeps failed batches for the longest time that SQS allows, until an operator handles them. */
export class FailureQueue extends Queue {
  constructor(scope: Construct, id: string) {
    super(scope, id, { enforceSSL: true, retentionPeriod: Duration.days(14) });
    const reason = "This is a dead-letter queue: no consumer receives from it, so no message can fail.";
    Validations.of(this.node.findChild("Resource")).acknowledge(
      { id: "AwsSolutions-SQS3", reason },
      { id: "Serverless-SQSRedrivePolicy", reason },
    );
  }
}
