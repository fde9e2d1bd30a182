import { PolicyStatement } from "aws-cdk-lib/aws-iam";

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

/** Allows a reader of the stream to send failed batches to its queue. */
export const sendStatement = (queueArn: string) =>
  new PolicyStatement({ actions: ["sqs:SendMessage"], resources: [queueArn] });
