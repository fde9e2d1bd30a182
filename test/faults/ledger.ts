import type { RouteName } from "../../shared/routes.ts";
import type { Conversation, Message } from "../../shared/schemas/conversation-schemas.ts";
import type { Lead } from "../../shared/schemas/lead-schemas.ts";

/** The routes that write. */
export type WriteName = "create-lead" | "send-message";

/** The routes that list. */
export type ListName = Exclude<RouteName, WriteName>;

/** A write that a client asked for, perhaps more than once. */
export interface Write {
  readonly name: WriteName;
  readonly account: string;
  /** The lead's name or the message's text, which no other write has. */
  readonly marker: string;
  /** The record that it was answered with at last, and when; a client that gave up has none. */
  acknowledged?: { readonly at: number; readonly record: Lead | Message };
}

/** The answer of a list, with what it must agree with. */
export interface Listing {
  readonly name: ListName;
  readonly account: string;
  readonly filter: Readonly<Record<string, string>>;
  readonly page: number;
  readonly limit: number;
  /** In milliseconds since the epoch. */
  readonly began: number;
  readonly ended: number;
  readonly data: readonly (Lead | Conversation)[];
  readonly total: number;
}

/** An operator's change of a status; nothing else ever changes it. */
export interface StatusChange {
  readonly account: string;
  readonly id: string;
  readonly status: string;
  /** When the operator was told that it is done, in milliseconds since the epoch. */
  acknowledgedAt?: number;
}

/** All that clients asked for and were told, by which the table is judged afterwards. */
export class Ledger {
  /** How often a route was called. */
  requests = 0;
  readonly writes: Write[] = [];
  readonly listings: Listing[] = [];
  /** By the lead's or the conversation's id. */
  readonly changes = new Map<string, StatusChange>();
  /** What must never be, in sentences. */
  readonly broken: string[] = [];
  /** Calls that a client may have stopped to wait for. */
  readonly underWay = new Set<Promise<unknown>>();

  /** The record of an acknowledged write, at a part of them from 0 (the first) to below 1. */
  acknowledged<T extends Lead | Message>(name: WriteName, account: string, part: number): T | undefined {
    const all = this.writes.filter(
      (write) => write.name === name && write.account === account && write.acknowledged,
    );
    return all[Math.floor(part * all.length)]?.acknowledged?.record as T | undefined;
  }

  /** Waits for a call to end, also when its client no longer does. */
  track<T>(call: Promise<T>): Promise<T> {
    const tracked = call.finally(() => this.underWay.delete(tracked)).catch(() => {});
    this.underWay.add(tracked);
    return call;
  }
}
