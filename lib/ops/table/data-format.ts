import {
  DescribeTableCommand,
  type DynamoDBClient,
  ListTagsOfResourceCommand,
} from "@aws-sdk/client-dynamodb";
import { dataFormat, dataFormatTag } from "../../../shared/dynamodb/data-format.ts";
import { withRetry } from "../../../shared/dynamodb/retry.ts";
import { isTableBusy } from "../../../shared/dynamodb/throttling.ts";
import { UserError } from "../../user-error.ts";

/**
 * Checks that this program writes what the deployed release of a table reads. A restored table has no tags: each of its
 * items is checked when it is read.
 *
 * @throws UserError for another data format
 */
export async function checkDataFormat(client: DynamoDBClient, TableName: string): Promise<void> {
  const retry = { deadline: Date.now() + 10_000, isRetryable: isTableBusy };
  const tags = await withRetry(async () => {
    const { Table } = await client.send(new DescribeTableCommand({ TableName }));
    const { Tags = [] } = await client.send(new ListTagsOfResourceCommand({ ResourceArn: Table?.TableArn }));
    return Tags;
  }, retry);
  const stored = tags.find(({ Key }) => Key === dataFormatTag)?.Value ?? String(dataFormat);
  if (stored === String(dataFormat)) return;
  throw new UserError(
    `The table ${TableName} has the data format ${stored}, but this program has ${dataFormat}: nothing was written. Check out the commit in the output Release of its stack, and run npm ci.`,
  );
}
