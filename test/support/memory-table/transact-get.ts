import type { TransactGetCommandInput } from "@aws-sdk/lib-dynamodb";
import type { Key } from "../../../shared/dynamodb/table-client.ts";
import { project } from "./expressions.ts";
import { readUnits } from "./query.ts";
import { checkKeys, type StoredItems } from "./stored-items.ts";

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
  checkKeys(reads.map(({ key }) => key));
  return {
    output: { Responses: reads.map(({ row, toPart }) => (row ? { Item: toPart(row.item) } : {})) },
    // A transaction reads each item twice.
    reads: reads.reduce((units, { row }) => units + 2 * readUnits(row?.size ?? 0, true), 0),
  };
}
