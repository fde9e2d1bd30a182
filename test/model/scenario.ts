import { PutCommand } from "@aws-sdk/lib-dynamodb";
import { encodeTime } from "ulid";
import { leadItem } from "../../shared/domain/leads.ts";
import { tableName } from "../../shared/dynamodb/table-client.ts";
import { countedLists } from "../../shared/pages/tree/counted-list.ts";
import type { Limits } from "../../shared/pages/tree/tree-limits.ts";
import type { Lead } from "../../shared/schemas/lead-schemas.ts";

/** The time at which every scenario starts, in milliseconds since the epoch. */
export const startTime = Date.UTC(2026, 0, 1);

/** How long after its id was created a route's write may land, in milliseconds. */
export const landsWithin = 3000;

export const account = "acme";
export const owner = { account, list: countedLists.lead };

/** A step of the world around the actors. */
export type Event =
  /** A route writes a row whose id was created `at` milliseconds after the start, or an import writes an older row. */
  | { readonly do: "create" | "import"; readonly row: number; readonly at: number }
  | { readonly do: "delete"; readonly row: number }
  | { readonly do: "change"; readonly row: number; readonly status: Lead["status"] }
  /** The clock goes on, in milliseconds. */
  | { readonly do: "pass"; readonly time: number };

/** A small world, of which every course is explored. */
export interface Scenario {
  readonly name: string;
  /** Whether it takes more than a few seconds. */
  readonly large?: boolean;
  readonly limits: Limits;
  /** Rows that exist at the start, by their ages in seconds, in groups that were counted one after another. */
  readonly initial: readonly (readonly number[])[];
  /** Whether a rebuild has replaced the initial tree. */
  readonly rebuilt?: boolean;
  /** Sequences of events. The events of two sequences come in any order. */
  readonly events: readonly (readonly Event[])[];
  /** How many maintainers may run at once: the skews of their clocks. */
  readonly maintainers: readonly number[];
  /** How many maintainers or rebuilds may crash. */
  readonly crashes?: number;
  /** How many rebuilds may start, each after the end or the crash of the one before. */
  readonly rebuilds?: number;
  /** The pages that are read one after another while the others run. */
  readonly pages?: readonly number[];
}

const sources = ["a", "b", undefined];

/** The lead with a number. Leads with other numbers differ in their sources. */
export function createLead(row: number, createdAt: number): Lead {
  const source = sources[row % sources.length];
  return {
    id: `lead_${encodeTime(createdAt, 10)}${String(row).padStart(16, "0")}`,
    name: "x",
    score: 0,
    status: "new",
    ...(source !== undefined && { source }),
    tags: [],
    createdAt: new Date(createdAt).toISOString(),
  };
}

/** The number of a lead, from its id. */
export const rowNumber = (id: string) => Number(id.slice(-16));

export const putLead = (lead: Lead) =>
  new PutCommand({ TableName: tableName, Item: leadItem(account, lead) });
