import type { DynamoDBRecord } from "aws-lambda";

/** Creates a record of the table's stream; its sequence number is not padded, as in the embedded engine. */
export const createRecord = (sequenceNumber: number | string, pk = "LEAD#a"): DynamoDBRecord => ({
  eventID: String(sequenceNumber),
  eventName: "INSERT",
  dynamodb: {
    Keys: { pk: { S: pk }, sk: { S: `lead_${sequenceNumber}` } },
    NewImage: { pk: { S: pk }, sk: { S: `lead_${sequenceNumber}` } },
    SequenceNumber: String(sequenceNumber),
    StreamViewType: "NEW_AND_OLD_IMAGES",
  },
});

export const sequenceNumbers = (records: readonly DynamoDBRecord[]) =>
  records.map(({ dynamodb }) => Number(dynamodb?.SequenceNumber));
