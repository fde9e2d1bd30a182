import { isDeepStrictEqual } from "node:util";
import type { Item } from "../dynamodb/table-client.ts";
import { createdAt, idTimestamp, isId, newId } from "../ids.ts";
import { fieldsOf } from "../schemas/record.ts";

/**
 * Adds to an item's changes what its event needs and, for a lead, the time of the change, if fields of its record change.
 *
 * @param properties the names of the record's fields
 */
export function markChange(read: Item, changes: Item, properties: readonly string[]): Item {
  const [before, after] = [fieldsOf(read), fieldsOf({ ...read, ...changes })];
  const changed = properties.filter((name) => !isDeepStrictEqual(before[name], after[name]));
  if (changed.length === 0) return changes;
  // Later than the last change, which a machine with another clock may have made, and than the creation of a lead:
  // incremental readers distinguish changes by their times.
  const changedAt = isId("change", read.changeId) ? idTimestamp(read.changeId) : 0;
  const last = Math.max(changedAt, Date.parse(String(before.updatedAt)) || 0);
  const changeId = newId("change", Math.max(Date.now(), last + 1));
  if (!properties.includes("updatedAt")) return { ...changes, changed, changeId };
  const updatedAt = createdAt(changeId);
  const details = { ...Object(changes.details ?? read.details), updatedAt };
  return { ...changes, details, activeAt: updatedAt, changed, changeId };
}
