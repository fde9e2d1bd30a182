import { DescribeTableCommand, ListTagsOfResourceCommand } from "@aws-sdk/client-dynamodb";
import { dataFormat, dataFormatTag } from "../../../shared/dynamodb/data-format.ts";
import { isBusy } from "../../../shared/dynamodb/dynamodb-errors.ts";
import type { OtherTable } from "../../../shared/dynamodb/read-pages.ts";
import { withRetry } from "../../../shared/dynamodb/retry.ts";
import { UserError } from "../../user-error.ts";

/**
 * Checks that this program writes what the deployed release of a table reads.
 *
 * @param untagged the format of a table without the tag, such as one that was restored; by default, it is refused
 * @throws UserError for another data format
 */
export async function checkDataFormat({ client, name }: OtherTable, untagged?: number): Promise<void> {
  const retry = { deadline: Date.now() + 10_000, isRetryable: isBusy };
  const tags = await withRetry(async () => {
    const { Table } = await client.send(new DescribeTableCommand({ TableName: name }));
    const { Tags = [] } = await client.send(new ListTagsOfResourceCommand({ ResourceArn: Table?.TableArn }));
    return Tags;
  }, retry);
  const stored = tags.find(({ Key }) => Key === dataFormatTag)?.Value;
  if (Number(stored ?? untagged) === dataFormat) return;
  const found = stored === undefined ? "no data format" : `the data format ${stored}`;
  throw new UserError(
    `The table ${name} has ${found}, but this program has ${dataFormat}: nothing was written. Check out the commit in the output Release of its stack, and run npm ci.`,
  );
}
