import { isDeepStrictEqual } from "node:util";
import type { Item } from "../dynamodb/table-client.ts";
import { idTimestamp, isId, newId } from "../ids.ts";
import { fieldsOf } from "../schemas/record.ts";

/**
 * The changes of an item, with what its event is composed of if they change fields of its record.
 *
 * @param properties the names of these fields
 */
export function markChange(read: Item, changes: Item, properties: readonly string[]): Item {
  const [before, after] = [fieldsOf(read), fieldsOf({ ...read, ...changes })];
  const changed = properties.filter((name) => !isDeepStrictEqual(before[name], after[name]));
  if (changed.length === 0) return changes;
  // Later than the change before, which a machine with another clock may have made.
  const last = isId("change", read.changeId) ? idTimestamp(read.changeId) : 0;
  return { ...changes, changed, changeId: newId("change", Math.max(Date.now(), last + 1)) };
}
