import { decodeTime } from "ulid";
import type { Conversation, Message } from "../../shared/schemas/conversation-schemas.ts";
import type { Lead } from "../../shared/schemas/lead-schemas.ts";
import { staleness } from "./index-memory.ts";
import type { Ledger, Listing } from "./ledger.ts";
import type { Stored } from "./stored.ts";

/** A stored row of a list, and what may be asked of it. */
interface Row {
  readonly record: Lead | Conversation;
  /** When its id was made, in milliseconds since the epoch: it is not stored before. */
  readonly made: number;
  /** From when on it is known to be stored. */
  readonly known: number;
  /** Every status that it had. */
  readonly statuses: readonly string[];
}

/**
 * What is wrong with the answers that lists gave under faults, in sentences. Nothing is ever deleted, so a total lies
 * between the rows that were known when the list was asked for and those that had an id when it answered. A filtered
 * one may leave out what is younger than an index may be behind; of a status, also what ever changed in it.
 */
export function checkListings(ledger: Ledger, accounts: ReadonlyMap<string, Stored>): string[] {
  const rows = new Map(
    [...accounts].map(([account, stored]) => [
      account,
      {
        "list-leads": stored.leads.map((record) => rowOf(record, ledger, leadKnown(ledger))),
        "list-conversations": stored.conversations.map((record) =>
          rowOf(record, ledger, conversationKnown(ledger)),
        ),
      },
    ]),
  );
  return ledger.listings.flatMap((listing) =>
    faultsOf(listing, rows.get(listing.account)?.[listing.name] ?? []).map(
      (fault) => `${listing.name} of ${listing.account} by ${JSON.stringify(listing.filter)}: ${fault}`,
    ),
  );
}

function rowOf(record: Lead | Conversation, { changes }: Ledger, known: ReadonlyMap<string, number>): Row {
  const first = record.id.startsWith("lead_") ? "new" : "active";
  const changed = changes.get(record.id)?.status;
  return {
    record,
    made: decodeTime(record.id.slice(record.id.indexOf("_") + 1)),
    known: known.get(record.id) ?? Number.POSITIVE_INFINITY,
    statuses: changed === undefined ? [first] : [first, changed],
  };
}

/** When leads were first known, by id. */
const leadKnown = ({ writes }: Ledger) =>
  new Map(
    writes.flatMap(({ name, acknowledged }): [string, number][] =>
      name === "create-lead" && acknowledged ? [[acknowledged.record.id, acknowledged.at]] : [],
    ),
  );

/** When conversations were first known, by id: their first acknowledged message was. */
function conversationKnown({ writes }: Ledger): Map<string, number> {
  const known = new Map<string, number>();
  for (const { name, acknowledged } of writes) {
    if (name !== "send-message" || !acknowledged) continue;
    const { conversationId } = acknowledged.record as Message;
    known.set(conversationId, Math.min(acknowledged.at, known.get(conversationId) ?? acknowledged.at));
  }
  return known;
}

function faultsOf(listing: Listing, rows: readonly Row[]): string[] {
  const { filter, began, ended, page, limit, data, total } = listing;
  const lag = Object.keys(filter).length === 0 ? 0 : staleness;
  const inFilter = rows.filter((row) => mayMatch(row, filter));
  const certain = inFilter.filter(
    ({ known, statuses }) => known < began - lag && (filter.status === undefined || statuses.length === 1),
  );
  const possible = inFilter.filter(({ made }) => made <= ended);
  const faults: string[] = [];
  if (total < certain.length || total > possible.length)
    faults.push(`the total is ${total}, not from ${certain.length} to ${possible.length}`);
  if (data.length > limit) faults.push(`${data.length} rows on a page of ${limit}`);
  const ids = data.map(({ id }) => id);
  if (ids.some((id, index) => index > 0 && id >= (ids[index - 1] ?? "")))
    faults.push("the rows are in disorder");
  const byId = new Map(possible.map((row) => [row.record.id, row]));
  for (const record of data)
    if (!isSame(record, byId.get(record.id)?.record))
      faults.push(`${JSON.stringify(record)} is not such a row`);
  const last = data.length < limit ? "" : (ids.at(-1) ?? "");
  const missing = certain.filter(({ record: { id } }) => id > last && !ids.includes(id));
  if (page === 1 && missing.length > 0) faults.push(`${missing.length} rows are missing on the first page`);
  return faults;
}

function mayMatch({ record, statuses }: Row, filter: Readonly<Record<string, string>>): boolean {
  const { status, ...same } = filter;
  return (
    (status === undefined || statuses.includes(status)) &&
    Object.entries(same).every(([name, value]) => Reflect.get(record, name) === value)
  );
}

/** Whether a record is the stored one, but for what changes. */
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
