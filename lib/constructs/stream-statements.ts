import { PolicyStatement } from "aws-cdk-lib/aws-iam";

/** Written out because the table's `grantStreamRead` allows listing the streams of every table. */
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

/** What a reader of the stream needs to put what it gives up into its queue. */
export const sendStatement = (queueArn: string) =>
  new PolicyStatement({ actions: ["sqs:SendMessage"], resources: [queueArn] });
