import { indexes, rowKey } from "../../dynamodb/keys.ts";
import type { Retry } from "../../dynamodb/retry.ts";
import { maxBatchKeys, readItems } from "../../dynamodb/table-client.ts";
import { type CountedRow, countedRow, type SublistOwner } from "../tree/counted-list.ts";

/** Reads rows consistently. @returns those that are in the sublist, by their keys */
export async function readStates(
  { account, list, sublist: { index, partition } }: SublistOwner,
  keys: Iterable<string>,
  retry: Retry,
): Promise<ReadonlyMap<string, CountedRow>> {
  const states = new Map<string, CountedRow>();
  const tableKeys = Array.from(new Set(keys), (sk) => rowKey(list.type, account, sk));
  for (let from = 0; from < tableKeys.length; from += maxBatchKeys) {
    const items = await retry(() => readItems(tableKeys.slice(from, from + maxBatchKeys), true));
    for (const item of items)
      if (item[indexes[index]] === partition) states.set(String(item.sk), countedRow(item));
  }
  return states;
}
