import { DescribeTableCommand, ListTagsOfResourceCommand } from "@aws-sdk/client-dynamodb";
import { dataFormat, dataFormatTag } from "../../../shared/dynamodb/data-format.ts";
import { isBusy } from "../../../shared/dynamodb/dynamodb-errors.ts";
import type { OtherTable } from "../../../shared/dynamodb/read-pages.ts";
import { withRetry } from "../../../shared/dynamodb/retry.ts";
import { UserError } from "../../user-error.ts";

/**
 * Checks that this program writes what the deployed release of a table reads.
 *
 * @param untagged the format of a table without the tag: by default the first one
 * @param oldest the oldest format that the program can read, if it only reads
 * @throws UserError for another data format
 */
export async function checkDataFormat(
  { client, name }: OtherTable,
  untagged = 1,
  oldest = dataFormat,
): Promise<void> {
  const retry = { deadline: Date.now() + 10_000, isRetryable: isBusy };
  const tags = await withRetry(async () => {
    const { Table } = await client.send(new DescribeTableCommand({ TableName: name }));
    const { Tags = [] } = await client.send(new ListTagsOfResourceCommand({ ResourceArn: Table?.TableArn }));
    return Tags;
  }, retry);
  const stored = tags.find(({ Key }) => Key === dataFormatTag)?.Value ?? untagged;
  if (Number(stored) >= oldest && Number(stored) <= dataFormat) return;
  throw new UserError(
    `The table ${name} has the data format ${stored}, but this program has ${dataFormat}: nothing was written. Check out the commit in the output Release of its stack, and run npm ci.`,
  );
}
