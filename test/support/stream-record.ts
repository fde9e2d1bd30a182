import { marshall } from "@aws-sdk/util-dynamodb";
import type { DynamoDBRecord } from "aws-lambda";

type Item = Readonly<Record<string, unknown>>;
type Image = NonNullable<DynamoDBRecord["dynamodb"]>["NewImage"];

let sequenceNumber = 1;

/** The table's stream record of an item that was created (no `before`), changed or deleted (no `after`). */
export function streamRecord(before: Item | undefined, after: Item | undefined): DynamoDBRecord {
  const { pk, sk } = after ?? before ?? {};
  return {
    dynamodb: {
      Keys: toImage({ pk, sk }),
      ...(before && { OldImage: toImage(before) }),
      ...(after && { NewImage: toImage(after) }),
      SequenceNumber: String(sequenceNumber++),
    },
  };
}

const toImage = (item: Item) => marshall(item) as NonNullable<Image>;
