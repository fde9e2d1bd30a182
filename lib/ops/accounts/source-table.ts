import { dataFormat } from "../../../shared/dynamodb/data-format.ts";
import { accountPartition, type ItemType } from "../../../shared/dynamodb/keys.ts";
import type { Pace } from "../../../shared/dynamodb/pace.ts";
import { inPartition, queryItems } from "../../../shared/dynamodb/read-pages.ts";
import { createTableClient, type Item, table } from "../../../shared/dynamodb/table-client.ts";
import { UserError } from "../../user-error.ts";
import { checkDataFormat, operatorConfig } from "../command/select-table.ts";

/** The table that an account is copied from: it needs no indexes, and nothing is written to it. */
export type SourceTable = Awaited<ReturnType<typeof openSource>>;

/**
 * Opens a table beside the selected one, with the same credentials.
 *
 * @param region by default that of the selected table
 * @throws UserError if there is no such table, or it has another data format
 */
export async function openSource(account: string, name: string, region: string | undefined, pace: Pace) {
  const { credentials, endpoint, region: ownRegion } = table.config;
  const client = createTableClient({
    ...operatorConfig,
    // The pace makes all further attempts.
    maxAttempts: 1,
    credentials,
    region: region ?? ownRegion,
    ...(endpoint && { endpoint }),
  });
  // A restored table has no tags: each of its items is checked when it is read.
  await checkDataFormat({ client, name }, pace, dataFormat).catch(async (error: unknown) => {
    if (!(error instanceof Error && error.name === "ResourceNotFoundException")) throw error;
    throw new UserError(
      `There is no table ${name} in the region ${await client.config.region()}: check --from-table and --from-region.`,
    );
  });
  const other = { client, name };
  async function* items(type: ItemType): AsyncGenerator<Item> {
    const partition = inPartition(accountPartition(type, account));
    for await (const some of queryItems(partition, pace, other)) yield* some;
  }
  return {
    ...other,
    /** The name of the account in this table. */
    account,
    /** The account's items of a type, in the order of their keys. */
    items,
  };
}
