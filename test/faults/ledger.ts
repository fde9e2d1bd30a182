import { isDeepStrictEqual } from "node:util";
import { type Message, message } from "../../shared/schemas/conversation-schemas.ts";
import { type Lead, lead } from "../../shared/schemas/lead-schemas.ts";
import { toRecord } from "../../shared/schemas/record.ts";
import type { Stored } from "./stored.ts";

/** A write that a client requested, perhaps more than once. */
export interface Write {
  readonly name: "create-lead" | "send-message";
  /** The lead's name or the message's text, unique to this write. */
  readonly marker: string;
  /** The record in the final response; absent when the client gave up. */
  record?: Lead | Message;
}

/** What the clients of an account requested, with which the table is compared afterwards. */
export class Ledger {
  readonly account: string;
  /** How often a route was called. */
  requests = 0;
  /** How many lists were answered. */
  lists = 0;
  readonly writes: Write[] = [];
  /** An operator's changes of statuses, by the id of the lead, and whether they were confirmed. Nothing else changes any. */
  readonly changes = new Map<string, { readonly status: Lead["status"]; isConfirmed: boolean }>();
  /** What must never happen, in sentences. */
  readonly violations: string[] = [];

  constructor(account: string) {
    this.account = account;
  }

  /** The records of the acknowledged writes of a route. */
  acknowledged<T extends Lead | Message>(name: Write["name"]): readonly T[] {
    return this.writes.flatMap((write) => (write.name === name && write.record ? [write.record as T] : []));
  }
}

/** Compares every write and every change with the table: none that was acknowledged is lost, and none was made twice. */
export function checkWrites({ writes, changes }: Ledger, { leads, messages }: Stored) {
  const all = [
    ...leads.map((item) => ({ marker: item.name, record: toRecord(lead, { ...item }) })),
    ...messages.map((item) => ({ marker: item.message, record: toRecord(message, { ...item }) })),
  ];
  const copies = Map.groupBy(all, ({ marker }) => marker);
  const isStored = ({ marker, record }: Write) =>
    copies.get(marker)?.some((copy) => isDeepStrictEqual(withoutStatus(copy.record), withoutStatus(record)));
  const statuses = new Map(leads.map(({ id, status }) => [id, status]));
  const isUndone = ([id, { status, isConfirmed }]: [string, { status: string; isConfirmed: boolean }]) =>
    isConfirmed && statuses.get(id) !== status;
  return {
    lost: writes.filter((write) => write.record && !isStored(write)).map(({ marker }) => marker),
    doubled: writes.filter(({ marker }) => (copies.get(marker) ?? []).length > 1).map(({ marker }) => marker),
    undone: [...changes].filter(isUndone).map(([id]) => id),
  };
}

/** A record without the status, which an operator may have changed. */
const withoutStatus = (record: object = {}) => ({ ...record, status: undefined });
