import type { _Record } from "@aws-sdk/client-dynamodb-streams";
import type { DynamoDBRecord } from "aws-lambda";

/** Converts a record of the SDK to the form that Lambda passes to functions: the time is in seconds, not a `Date`. */
export function toLambdaRecord({ dynamodb, ...record }: _Record): DynamoDBRecord {
  const time = dynamodb?.ApproximateCreationDateTime;
  const ApproximateCreationDateTime = time && Math.floor(time.getTime() / 1000);
  return { ...record, dynamodb: { ...dynamodb, ApproximateCreationDateTime } } as DynamoDBRecord;
}
