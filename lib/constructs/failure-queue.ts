import { Duration, Validations } from "aws-cdk-lib";
import { Queue } from "aws-cdk-lib/aws-sqs";
import type { Construct } from "constructs";

/** A queue that keeps what could not be processed, as long as SQS can, until an operator has seen to it. */
export class FailureQueue extends Queue {
  constructor(scope: Construct, id: string) {
    super(scope, id, { enforceSSL: true, retentionPeriod: Duration.days(14) });
    const reason = "It is itself the queue of failures: nobody receives from it, so nothing of it can fail.";
    Validations.of(this.node.findChild("Resource")).acknowledge(
      { id: "AwsSolutions-SQS3", reason },
      { id: "Serverless-SQSRedrivePolicy", reason },
    );
  }
}
