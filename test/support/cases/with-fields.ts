import type { Item } from "../../../shared/dynamodb/table-client.ts";

/** An item with other values of some fields, which may be in its details. */
export function withFields<Stored extends Item>(item: Stored, fields: Item): Stored {
  const changed: Record<string, unknown> = { ...item };
  for (const [name, value] of Object.entries(fields))
    if (Object.hasOwn(Object(item.details), name))
      changed.details = { ...Object(changed.details), [name]: value };
    else changed[name] = value;
  return changed as Stored;
}
