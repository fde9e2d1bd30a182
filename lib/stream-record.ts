import type { _Record } from "@aws-sdk/client-dynamodb-streams";
import type { DynamoDBRecord } from "aws-lambda";

/** A record in the form in which Lambda passes it to a function: with the time in seconds, where the SDK has a `Date`. */
export function toLambdaRecord({ dynamodb, ...record }: _Record): DynamoDBRecord {
  const time = dynamodb?.ApproximateCreationDateTime;
  const ApproximateCreationDateTime = time && Math.floor(time.getTime() / 1000);
  return { ...record, dynamodb: { ...dynamodb, ApproximateCreationDateTime } } as DynamoDBRecord;
}
