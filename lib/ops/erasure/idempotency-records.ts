import { accountPartition } from "../../../shared/dynamodb/keys.ts";
import type { Item, Key } from "../../../shared/dynamodb/table-client.ts";
import type { Pace } from "../common/pace.ts";
import type { OnRows } from "../common/progress.ts";
import { scanTable } from "../common/read-items.ts";
import { deleteItems } from "../common/write-items.ts";

/** The ids that a record may name: of the lead that a request created, or of the conversation of a sent message. */
type NamedIds = ReadonlySet<string>;

/**
 * Finds the records of requests that created these leads, or sent messages of these conversations. No index lists them, so
 * the whole table is read.
 */
export async function findIdempotencyRecords(
  account: string,
  named: NamedIds,
  { pace, onRows }: { readonly pace: Pace; readonly onRows?: OnRows },
): Promise<Key[]> {
  const found: Key[] = [];
  const selection = {
    FilterExpression: "begins_with(pk, :prefix)",
    ExpressionAttributeValues: { ":prefix": `${accountPartition("idempotency", account)}#` },
    ProjectionExpression: "pk, sk, ids",
  };
  const onItems = (items: readonly Item[]) => {
    for (const { pk, sk, ids } of items) {
      const { id = "", conversationId = "" } = ids as Readonly<Record<string, string>>;
      if (named.has(id) || named.has(conversationId)) found.push({ pk: String(pk), sk: String(sk) });
    }
  };
  await scanTable(selection, { pace, onItems, onRows });
  return found;
}

/** Deletes such records. @returns how many */
export async function eraseIdempotencyRecords(
  ...[account, named, options]: Parameters<typeof findIdempotencyRecords>
): Promise<number> {
  const records = await findIdempotencyRecords(account, named, options);
  await deleteItems(records, options.pace);
  return records.length;
}
