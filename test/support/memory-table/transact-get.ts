import type { TransactGetCommandInput } from "@aws-sdk/lib-dynamodb";
import type { Key } from "../../../shared/dynamodb/table-client.ts";
import { project } from "./expressions.ts";
import { readUnits } from "./query.ts";
import { type StoredItems, validationError } from "./stored-items.ts";
import { maxTransactionItems } from "./writes.ts";

/**
 * Reads the items of a transaction, in the order of its keys.
 *
 * @see https://docs.aws.amazon.com/amazondynamodb/latest/APIReference/API_TransactGetItems.html
 */
export function transactGet(items: StoredItems, { TransactItems = [] }: TransactGetCommandInput) {
  const reads = TransactItems.map(({ Get }) => {
    const key = Get?.Key as unknown as Key;
    return { key, row: items.find(key), toPart: project(Get?.ProjectionExpression, Get ?? {}) };
  });
  const keys = new Set(reads.map(({ key: { pk, sk } }) => JSON.stringify([pk, sk])));
  if (keys.size < reads.length) throw validationError("A transaction has an item twice.");
  if (reads.length > maxTransactionItems) throw validationError("A transaction has too many items.");
  return {
    output: { Responses: reads.map(({ row, toPart }) => (row ? { Item: toPart(row.item) } : {})) },
    // A transaction reads each item twice.
    reads: reads.reduce((units, { row }) => units + 2 * readUnits(row?.size ?? 0, true), 0),
  };
}
