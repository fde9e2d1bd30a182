import { marshall } from "@aws-sdk/util-dynamodb";
import type { DynamoDBRecord } from "aws-lambda";
import { writtenValues } from "../../../shared/dynamodb/table-client.ts";

type Item = Readonly<Record<string, unknown>>;
type Image = NonNullable<DynamoDBRecord["dynamodb"]>["NewImage"];

let sequenceNumber = 1;

/**
 * The table's stream record of an item that was created (no `before`), changed or deleted (no `after`).
 *
 * @param time of the write, in milliseconds since the epoch
 */
export function streamRecord(
  before: Item | undefined,
  after: Item | undefined,
  time = Date.now(),
): DynamoDBRecord {
  const { pk, sk } = after ?? before ?? {};
  return {
    eventName: before ? (after ? "MODIFY" : "REMOVE") : "INSERT",
    dynamodb: {
      Keys: toImage({ pk, sk }),
      ...(before && { OldImage: toImage(before) }),
      ...(after && { NewImage: toImage(after) }),
      SequenceNumber: String(sequenceNumber++),
      ApproximateCreationDateTime: Math.floor(time / 1000),
    },
  };
}

const toImage = (item: Item) => marshall(item, { ...writtenValues }) as NonNullable<Image>;
