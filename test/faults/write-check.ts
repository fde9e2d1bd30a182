import { isDeepStrictEqual } from "node:util";
import { message } from "../../shared/schemas/conversation-schemas.ts";
import { lead } from "../../shared/schemas/lead-schemas.ts";
import { toRecord } from "../../shared/schemas/record.ts";
import type { Ledger, Write } from "./ledger.ts";
import { emptyAccount, type Stored } from "./stored.ts";

/** What became of the writes that clients asked for. */
export interface Writes {
  readonly acknowledged: number;
  readonly gaveUp: number;
  /** Acknowledged, but not stored as they were answered. */
  readonly lost: readonly string[];
  /** Stored more than once. */
  readonly doubled: readonly string[];
}

/** Looks for every write in the table. */
export function checkWrites({ writes }: Ledger, accounts: ReadonlyMap<string, Stored>): Writes {
  const found = new Map([...accounts].map(([account, stored]) => [account, byMarker(stored)]));
  const copies = (write: Write) => found.get(write.account)?.get(keyOf(write)) ?? [];
  const acknowledged = writes.filter((write) => write.acknowledged);
  return {
    acknowledged: acknowledged.length,
    gaveUp: writes.length - acknowledged.length,
    lost: acknowledged.filter((write) => !copies(write).some(isResponseOf(write))).map(keyOf),
    doubled: writes.filter((write) => copies(write).length > 1).map(keyOf),
  };
}

const keyOf = ({ name, marker }: Pick<Write, "name" | "marker">) => `${name} ${marker}`;

/** The stored records of each write. */
function byMarker({ leads, messages }: Stored = emptyAccount()): Map<string, object[]> {
  const found = new Map<string, object[]>();
  const add = (key: string, record: object) => found.set(key, [...(found.get(key) ?? []), record]);
  for (const item of leads)
    add(keyOf({ name: "create-lead", marker: item.name }), toRecord(lead, { ...item }));
  for (const item of messages)
    add(keyOf({ name: "send-message", marker: item.message }), toRecord(message, { ...item }));
  return found;
}

/** Whether a stored record is what the write was answered with; an operator may have changed a lead's status. */
const isResponseOf = (write: Write) => (record: object) => {
  const { status, ...stored } = record as { status?: string };
  const { status: _, ...answered } = (write.acknowledged?.record ?? {}) as { status?: string };
  return isDeepStrictEqual(stored, answered);
};
