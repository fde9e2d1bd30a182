import { dataFormat } from "../../../shared/dynamodb/data-format.ts";
import { accountPartition } from "../../../shared/dynamodb/keys.ts";
import type { Pace } from "../../../shared/dynamodb/pace.ts";
import { inPartition, type OtherTable, queryAll, queryItems } from "../../../shared/dynamodb/read-pages.ts";
import { connect, type Item, table } from "../../../shared/dynamodb/table-client.ts";
import { UserError } from "../../user-error.ts";
import { operatorConfig } from "../command/select-table.ts";
import { checkDataFormat } from "../table/data-format.ts";
import { messagesOf } from "../table/lead-items.ts";
import type { RecordType } from "../table/stored-records.ts";

/** The table that an account is copied from: it needs no indexes, and nothing is written to it. */
export class SourceTable {
  readonly #account: string;
  readonly #pace: Pace;
  readonly #table: OtherTable;

  constructor(account: string, other: OtherTable, pace: Pace) {
    this.#account = account;
    this.#table = other;
    this.#pace = pace;
  }

  /** The items of the account of a type, in the order of their keys. */
  async *items(type: Exclude<RecordType, "message">): AsyncGenerator<Item> {
    const partition = inPartition(accountPartition(type, this.#account));
    for await (const items of queryItems(partition, this.#pace, this.#table)) yield* items;
  }

  /** The messages of a conversation, oldest first. */
  messages = (conversationId: string): Promise<Item[]> =>
    queryAll(messagesOf(this.#account, conversationId), this.#pace, this.#table);

  /** Whose conversations they are. */
  async *leadsOfConversations(): AsyncGenerator<{ id: string; leadId: string }> {
    for await (const { sk, leadId } of this.items("conversation"))
      if (typeof leadId === "string") yield { id: String(sk), leadId };
  }
}

/**
 * Opens a table beside the selected one, with the same credentials.
 *
 * @param region undefined for that of the selected table
 * @throws UserError if there is no such table, or it has a later data format
 */
export async function openSource(
  account: string,
  name: string,
  region: string | undefined,
  pace: Pace,
): Promise<SourceTable> {
  const { credentials, endpoint, region: ownRegion } = table.config;
  const client = connect({
    ...operatorConfig,
    // The pace makes all further attempts.
    maxAttempts: 1,
    credentials,
    region: region ?? ownRegion,
    ...(endpoint && { endpoint }),
  });
  // A restored table has no tags: each of its items is checked when it is read. So are those of an older format.
  await checkDataFormat({ client, name }, dataFormat, 1).catch(async (error: unknown) => {
    if (!(error instanceof Error && error.name === "ResourceNotFoundException")) throw error;
    throw new UserError(
      `There is no table ${name} in the region ${await client.config.region()}: check --from-table and --from-region.`,
    );
  });
  return new SourceTable(account, { client, name }, pace);
}
