import { Duration, Validations } from "aws-cdk-lib";
import { Queue, type QueueProps } from "aws-cdk-lib/aws-sqs";
import type { Construct } from "constructs";

const reason = "This is a dead-letter queue: no consumer receives from it, so no message can fail.";

/** A queue that keeps failures until an operator handles them, for the longest time that SQS allows. */
export class DeadLetterQueue extends Queue {
  constructor(scope: Construct, id: string, props?: QueueProps) {
    super(scope, id, { enforceSSL: true, retentionPeriod: Duration.days(14), ...props });
    Validations.of(this.node.findChild("Resource")).acknowledge(
      { id: "AwsSolutions-SQS3", reason },
      { id: "Serverless-SQSRedrivePolicy", reason },
    );
  }
}
