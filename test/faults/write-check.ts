import { isDeepStrictEqual } from "node:util";
import { message } from "../../shared/schemas/conversation-schemas.ts";
import { lead } from "../../shared/schemas/lead-schemas.ts";
import { toRecord } from "../../shared/schemas/record.ts";
import type { Ledger, Write } from "./ledger.ts";
import { emptyAccount, type Stored } from "./stored.ts";

/** The outcome of the writes that clients requested. */
export interface Writes {
  readonly acknowledged: number;
  readonly unacknowledged: number;
  /** Acknowledged, but not stored as in the response. */
  readonly lost: readonly string[];
  /** Stored more than once. */
  readonly doubled: readonly string[];
}

/** Compares every write with the table. */
export function checkWrites({ writes }: Ledger, accounts: ReadonlyMap<string, Stored>): Writes {
  const records = new Map([...accounts].map(([account, stored]) => [account, byMarker(stored)]));
  const copies = (write: Write) => records.get(write.account)?.get(writeKey(write)) ?? [];
  const acknowledged = writes.filter((write) => write.acknowledged);
  return {
    acknowledged: acknowledged.length,
    unacknowledged: writes.length - acknowledged.length,
    lost: acknowledged.filter((write) => !copies(write).some(matchesResponse(write))).map(writeKey),
    doubled: writes.filter((write) => copies(write).length > 1).map(writeKey),
  };
}

const writeKey = ({ name, marker }: Pick<Write, "name" | "marker">) => `${name} ${marker}`;

/** The stored records of each write. */
function byMarker({ leads, messages }: Stored = emptyAccount()): Map<string, object[]> {
  const byKey = new Map<string, object[]>();
  const add = (key: string, record: object) => byKey.set(key, [...(byKey.get(key) ?? []), record]);
  for (const item of leads)
    add(writeKey({ name: "create-lead", marker: item.name }), toRecord(lead, { ...item }));
  for (const item of messages)
    add(writeKey({ name: "send-message", marker: item.message }), toRecord(message, { ...item }));
  return byKey;
}

/** Whether a stored record equals the write's response, except for a status that an operator may have changed. */
const matchesResponse = (write: Write) => (record: object) => {
  const { status, ...stored } = record as { status?: string };
  const { status: _, ...acknowledged } = (write.acknowledged?.record ?? {}) as { status?: string };
  return isDeepStrictEqual(stored, acknowledged);
};
