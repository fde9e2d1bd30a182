import type { BatchGetCommandInput } from "@aws-sdk/lib-dynamodb";
import type { Item, Key } from "../../../shared/dynamodb/table-client.ts";
import { project } from "./expressions.ts";
import { pageBytes, readUnits } from "./query.ts";
import { checkKeys, type StoredItems, validationError } from "./stored-items.ts";

/**
 * Reads the items of a batch, but at most a page of each partition. DynamoDB returns items in no particular order. The
 * reverse order exposes callers that rely on the order of the keys.
 *
 * @returns the response, and the units of the keys that were read
 * @see https://docs.aws.amazon.com/amazondynamodb/latest/APIReference/API_BatchGetItem.html
 */
export function batchGet(items: StoredItems, { RequestItems = {} }: BatchGetCommandInput) {
  const [table = ""] = Object.keys(RequestItems);
  const { Keys, ...request } = RequestItems[table] ?? { Keys: [] };
  const keys = (Keys ?? []) as unknown as readonly Key[];
  if (keys.length === 0) throw validationError("A batch has no keys.");
  checkKeys(keys);
  const toPart = project(request.ProjectionExpression, request);
  const bytes = new Map<string, number>();
  const found: Item[] = [];
  const unprocessed: Key[] = [];
  let reads = 0;
  for (const key of keys) {
    const before = bytes.get(key.pk) ?? 0;
    if (before >= pageBytes) {
      unprocessed.push(key);
      continue;
    }
    const row = items.find(key);
    const size = row?.size ?? 0;
    bytes.set(key.pk, before + size);
    reads += readUnits(size, request.ConsistentRead);
    if (row) found.unshift(toPart(row.item));
  }
  const UnprocessedKeys = unprocessed.length > 0 ? { [table]: { ...request, Keys: unprocessed } } : {};
  return { output: { Responses: { [table]: found }, UnprocessedKeys }, reads };
}
