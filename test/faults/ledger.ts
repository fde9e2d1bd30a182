import type { RouteName } from "../../shared/routes.ts";
import type { Conversation, Message } from "../../shared/schemas/conversation-schemas.ts";
import type { Lead } from "../../shared/schemas/lead-schemas.ts";

/** The routes that write. */
export type WriteName = "create-lead" | "send-message";

/** The routes that list. */
export type ListName = Exclude<RouteName, WriteName>;

/** A write that a client requested, perhaps more than once. */
export interface Write {
  readonly name: WriteName;
  readonly account: string;
  /** The lead's name or the message's text, unique to this write. */
  readonly marker: string;
  /** The record in the final response, and its time; absent when the client gave up. */
  acknowledged?: { readonly at: number; readonly record: Lead | Message };
}

/** The response of a list, with the request and its times. */
export interface Listing {
  readonly name: ListName;
  readonly account: string;
  readonly filter: Readonly<Record<string, string>>;
  readonly page: number;
  readonly limit: number;
  /** In milliseconds since the epoch. */
  readonly start: number;
  readonly end: number;
  readonly data: readonly (Lead | Conversation)[];
  readonly total: number;
}

/** An operator's change of a status; nothing else changes statuses. */
export interface StatusChange {
  readonly account: string;
  readonly id: string;
  readonly status: string;
  /** When the change was confirmed, in milliseconds since the epoch. */
  acknowledgedAt?: number;
}

/** All requests and responses of the clients, with which the table is compared afterwards. */
export class Ledger {
  /** How often a route was called. */
  requests = 0;
  readonly writes: Write[] = [];
  readonly listings: Listing[] = [];
  /** By the lead's or the conversation's id. */
  readonly changes = new Map<string, StatusChange>();
  /** What must never happen, in sentences. */
  readonly violations: string[] = [];
  /** Calls whose clients may have timed out. */
  readonly inProgress = new Set<Promise<unknown>>();

  /** The record of an acknowledged write, at a position from 0 (the first) to below 1. */
  acknowledged<T extends Lead | Message>(name: WriteName, account: string, position: number): T | undefined {
    const all = this.writes.filter(
      (write) => write.name === name && write.account === account && write.acknowledged,
    );
    return all[Math.floor(position * all.length)]?.acknowledged?.record as T | undefined;
  }

  /** Keeps a call among those in progress until it ends, even if its client has timed out. */
  track<T>(call: Promise<T>): Promise<T> {
    const tracked = call.finally(() => this.inProgress.delete(tracked)).catch(() => {});
    this.inProgress.add(tracked);
    return call;
  }
}
