import { decodeTime } from "ulid";
import type { Conversation, Message } from "../../shared/schemas/conversation-schemas.ts";
import type { Lead } from "../../shared/schemas/lead-schemas.ts";
import { staleness } from "./index-memory.ts";
import type { Ledger, Listing } from "./ledger.ts";
import type { Stored } from "./stored.ts";

/** A stored row and the facts with which listings are compared. */
interface Row {
  readonly record: Lead | Conversation;
  /** When its id was created, in milliseconds since the epoch: it was stored later. */
  readonly createdAt: number;
  /** When it was certainly stored, in milliseconds since the epoch. */
  readonly storedAt: number;
  /** Every status that it had. */
  readonly statuses: readonly string[];
}

/**
 * Checks the responses of lists under faults. Nothing is deleted, so a total lies between the rows that were certainly
 * stored at the request and those that had an id at the response. A filtered list may miss rows younger than an
 * index's lag, and one by status also rows whose status has changed.
 *
 * @returns the faults, in sentences
 */
export function checkListings(ledger: Ledger, accounts: ReadonlyMap<string, Stored>): string[] {
  const rows = new Map(
    [...accounts].map(([account, stored]) => [
      account,
      {
        "list-leads": stored.leads.map((record) => toRow(record, ledger, leadTimes(ledger))),
        "list-conversations": stored.conversations.map((record) =>
          toRow(record, ledger, conversationTimes(ledger)),
        ),
      },
    ]),
  );
  return ledger.listings.flatMap((listing) =>
    findFaults(listing, rows.get(listing.account)?.[listing.name] ?? []).map(
      (fault) => `${listing.name} of ${listing.account} by ${JSON.stringify(listing.filter)}: ${fault}`,
    ),
  );
}

function toRow(
  record: Lead | Conversation,
  { changes }: Ledger,
  storedTimes: ReadonlyMap<string, number>,
): Row {
  const first = record.id.startsWith("lead_") ? "new" : "active";
  const changed = changes.get(record.id)?.status;
  return {
    record,
    createdAt: decodeTime(record.id.slice(record.id.indexOf("_") + 1)),
    storedAt: storedTimes.get(record.id) ?? Number.POSITIVE_INFINITY,
    statuses: changed === undefined ? [first] : [first, changed],
  };
}

/** When the creation of leads was acknowledged, by id. */
const leadTimes = ({ writes }: Ledger) =>
  new Map(
    writes.flatMap(({ name, acknowledged }): [string, number][] =>
      name === "create-lead" && acknowledged ? [[acknowledged.record.id, acknowledged.at]] : [],
    ),
  );

/** When the first message of conversations was acknowledged, by id. */
function conversationTimes({ writes }: Ledger): Map<string, number> {
  const times = new Map<string, number>();
  for (const { name, acknowledged } of writes) {
    if (name !== "send-message" || !acknowledged) continue;
    const { conversationId } = acknowledged.record as Message;
    times.set(conversationId, Math.min(acknowledged.at, times.get(conversationId) ?? acknowledged.at));
  }
  return times;
}

function findFaults(listing: Listing, rows: readonly Row[]): string[] {
  const { filter, start, end, page, limit, data, total } = listing;
  const readsIndex = ["status", "source", "email", "channel", "leadId"].some(
    (name) => filter[name] !== undefined,
  );
  const lag = readsIndex && filter.id === undefined ? staleness : 0;
  const inFilter = rows.filter((row) => mayMatch(row, filter));
  const certain = inFilter.filter(
    ({ storedAt, statuses }) =>
      storedAt < start - lag && (filter.status === undefined || statuses.length === 1),
  );
  const possible = inFilter.filter(({ createdAt }) => createdAt <= end);
  const faults: string[] = [];
  const others = countChangedBeside(listing, rows);
  const [least, most] = [certain.length - others, possible.length + others];
  if (total < least || total > most) faults.push(`the total is ${total}, not from ${least} to ${most}`);
  if (data.length > limit) faults.push(`${data.length} rows on a page of ${limit}`);
  const ids = data.map(({ id }) => id);
  if (ids.some((id, index) => index > 0 && id >= (ids[index - 1] ?? "")))
    faults.push("the rows are out of order");
  const byId = new Map(possible.map((row) => [row.record.id, row]));
  for (const record of data)
    if (!isSame(record, byId.get(record.id)?.record))
      faults.push(`${JSON.stringify(record)} differs from every stored row`);
  if (page !== 1) return faults;
  const last = data.length === total ? "" : (ids.at(-1) ?? "");
  const missing = certain.filter(({ record: { id } }) => id > last && !ids.includes(id));
  if (missing.length > 0) faults.push(`${missing.length} rows are missing on the first page`);
  // A row that was counted can be missing when the page is read: its status has changed, or the index is late.
  const uncertain = possible.length - certain.length + others;
  if (data.length < Math.min(limit, total) - uncertain)
    faults.push(`${data.length} rows of ${total} on the first page`);
  return faults;
}

/**
 * The rows by which the total of a window can be off while a changed status is not counted: also rows just outside of it,
 * unless the list has the tree of a sublist (docs/counted-pages.md).
 */
function countChangedBeside({ filter }: Listing, rows: readonly Row[]): number {
  const { status, createdAfter, createdBefore, ...others } = filter;
  const isWindow = createdAfter !== undefined || createdBefore !== undefined;
  if (!isWindow || status === undefined || Object.keys(others).length > 0) return 0;
  return rows.filter((row) => row.statuses.length > 1 && !mayMatch(row, filter)).length;
}

function mayMatch({ record, statuses, createdAt }: Row, filter: Readonly<Record<string, string>>): boolean {
  const { status, email, createdAfter, createdBefore, ...same } = filter;
  return (
    (createdAfter === undefined || createdAt >= Date.parse(createdAfter)) &&
    (createdBefore === undefined || createdAt < Date.parse(createdBefore)) &&
    (status === undefined || statuses.includes(status)) &&
    (email === undefined || String(Reflect.get(record, "email")).toLowerCase() === email.toLowerCase()) &&
    Object.entries(same).every(([name, value]) => Reflect.get(record, name) === value)
  );
}

/** Whether a record equals the stored one, except for fields that change. */
function isSame(record: Lead | Conversation, stored: Lead | Conversation | undefined): boolean {
  const changing = new Set(["status", "score", "messageCount", "lastMessageAt"]);
  return (
    stored !== undefined &&
    Object.entries(record).every(
      ([name, value]) =>
        changing.has(name) || JSON.stringify(value) === JSON.stringify(Reflect.get(stored, name)),
    )
  );
}
