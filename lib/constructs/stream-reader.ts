import { Duration, Validations } from "aws-cdk-lib";
import { PolicyStatement } from "aws-cdk-lib/aws-iam";
import { Queue } from "aws-cdk-lib/aws-sqs";
import type { Construct } from "constructs";

/**
 * How both readers of the stream, `maintain-counts` and the pipe, retry a failed batch: by its age alone, because AWS does
 * not say how soon attempts follow each other (docs/assumptions.md#retry-pauses). After half of the stream's 24 hours the
 * batch goes to the failure queue, while the stream still has it.
 */
export const streamRetries = {
  maxAge: Duration.hours(12),
  /** Not limited. It is set and not left out, so that an update of a stack with a limit removes it. */
  attempts: -1,
};

/** Allows reading the stream. The table's `grantStreamRead` would also allow listing the streams of every table. */
export const readStreamStatement = (streamArn: string) =>
  new PolicyStatement({
    actions: [
      "dynamodb:DescribeStream",
      "dynamodb:GetRecords",
      "dynamodb:GetShardIterator",
      "dynamodb:ListStreams",
    ],
    resources: [streamArn],
  });

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

  /** Allows sending failed batches to it. */
  sendStatement(): PolicyStatement {
    return new PolicyStatement({ actions: ["sqs:SendMessage"], resources: [this.queueArn] });
  }
}
