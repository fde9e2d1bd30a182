import { accountLimitKey } from "../dynamodb/keys.ts";
import { ifWellFormed } from "../dynamodb/malformed-items.ts";
import { readItem } from "../dynamodb/table-client.ts";
import { readRecord } from "../schemas/record.ts";

const limitSchema = {
  type: "object",
  properties: { requests: { type: "integer", minimum: 1 } },
  required: ["requests"],
} as const;

/** Reads how many requests an account may make in a window; undefined if it has the limit of its stage. */
export async function readAccountLimit(account: string): Promise<number | undefined> {
  const item = await readItem(accountLimitKey(account));
  return item && ifWellFormed(() => readRecord(limitSchema, item))?.requests;
}
