import { isWriteConflict } from "../../../shared/dynamodb/dynamodb-errors.ts";
import { withRetry } from "../../../shared/dynamodb/retry.ts";
import type { Item, Key } from "../../../shared/dynamodb/table-client.ts";
import { eachItem, inPartition, queryItems } from "../query-items.ts";
import { isNew, type Restoration, readPaced } from "./restoration.ts";

/** What the two tables have under a key. */
export interface Pair {
  readonly key: Key;
  /** What the table to restore from has. */
  readonly backup?: Item | undefined;
  /** What the live table has. */
  readonly live?: Item | undefined;
}

/** What the live table should have in the end, apart from what other items make of it. */
export const targetOf = (restoration: Restoration, { key, backup, live }: Pair): Item | undefined =>
  backup ?? (isNew(restoration, key.sk) ? live : undefined);

/** Reads a partition of both tables side by side, in the order of the sort keys. It holds a page of each. */
export async function* readPairs({ from, pace }: Restoration, pk: string): AsyncGenerator<Pair> {
  const backups = eachItem(queryItems({ ...inPartition(pk), TableName: from }, pace));
  const lives = eachItem(queryItems(inPartition(pk), pace));
  let [backup, live] = await Promise.all([next(backups), next(lives)]);
  while (backup || live) {
    const sk = [backup, live].flatMap((item) => (item ? String(item.sk) : [])).sort(byKey)[0] ?? "";
    const pair = {
      key: { pk, sk },
      backup: backup?.sk === sk ? backup : undefined,
      live: live?.sk === sk ? live : undefined,
    };
    yield pair;
    if (pair.backup) backup = await next(backups);
    if (pair.live) live = await next(lives);
  }
}

/** The next item; undefined at the end. */
const next = async (items: AsyncGenerator<Item, undefined>) => (await items.next()).value;

/** DynamoDB sorts texts by their bytes. Ids are ASCII, for which JavaScript's order is the same. */
const byKey = (a: string, b: string) => (a < b ? -1 : 1);

/** Reads what both tables have under a key. */
export async function readPair({ from, pace }: Restoration, key: Key): Promise<Pair> {
  const [backup, live] = await Promise.all([readPaced(key, pace, from), readPaced(key, pace)]);
  return { key, backup, live };
}

/** Repeats work on a pair, with what the live table has by then, while others change it. */
export function whileItChanges<T>(
  { pace, wait }: Restoration,
  pair: Pair,
  work: (pair: Pair) => Promise<T>,
): Promise<T> {
  let current = pair;
  const attempt = async () => {
    try {
      return await work(current);
    } catch (error) {
      if (isWriteConflict(error)) current = { ...pair, live: await readPaced(pair.key, pace) };
      throw error;
    }
  };
  return withRetry(attempt, { deadline: Number.POSITIVE_INFINITY, isRetryable: isWriteConflict, wait });
}
