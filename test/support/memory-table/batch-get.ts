import type { BatchGetCommandInput } from "@aws-sdk/lib-dynamodb";
import type { Item, Key } from "../../../shared/dynamodb/table-client.ts";
import { project } from "./expressions.ts";
import { pageBytes, readUnits } from "./query.ts";
import { type StoredItems, validationError } from "./stored-items.ts";

const maxKeys = 100;

/**
 * Reads the items of a batch, and of each partition no more than a page. DynamoDB returns them in no particular order;
 * the reverse order shows a caller that relies on that of the keys.
 *
 * @returns the response, and the units of the keys that were read
 * @see https://docs.aws.amazon.com/amazondynamodb/latest/APIReference/API_BatchGetItem.html
 */
export function batchGet(items: StoredItems, { RequestItems = {} }: BatchGetCommandInput) {
  const [table = ""] = Object.keys(RequestItems);
  const { Keys, ...request } = RequestItems[table] ?? { Keys: [] };
  const keys = distinct(Keys as unknown as readonly Key[] | undefined);
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

/** @returns the keys of a batch, of which it has at least one and none twice */
function distinct(keys: readonly Key[] = []): readonly Key[] {
  if (keys.length === 0) throw validationError("A batch has no keys.");
  if (keys.length > maxKeys) throw validationError("A batch has too many keys.");
  if (new Set(keys.map(({ pk, sk }) => JSON.stringify([pk, sk]))).size < keys.length)
    throw validationError("A batch has a key twice.");
  return keys;
}
