import { PutCommand } from "@aws-sdk/lib-dynamodb";
import { auditKey } from "../../dynamodb/keys.ts";
import { ifWellFormed } from "../../dynamodb/malformed-items.ts";
import { isCount, readFields } from "../../dynamodb/read-fields.ts";
import { type Item, readItem, table, tableName } from "../../dynamodb/table-client.ts";

/** How often each list is verified, in milliseconds. */
const week = 7 * 24 * 3_600_000;

/** A round through the table. */
export interface Round {
  /** In milliseconds since the epoch. */
  readonly beganAt: number;
  /** The position of the scan's page that has the next list; undefined for the first page. */
  readonly page?: Item | undefined;
  /** The partition of the last list, and the sort key where its rows begin that were not verified; undefined after all. */
  readonly list?: { readonly pk: string; readonly start: string | undefined } | undefined;
}

/** How far the audit has come. */
export interface AuditProgress {
  /** When the last whole round began: each list was verified since or given up, in milliseconds since the epoch. */
  readonly since: number;
  /** The round that is not at its end. */
  readonly round?: Round | undefined;
}

/** Reads how far the audit has come: at first, as if a round were due. */
export async function readProgress(now: number): Promise<AuditProgress> {
  // With a time to come, none would be due.
  const isPast = (value: unknown): value is number => isCount(value) && value <= now;
  const isRound = (value: unknown): value is Round => isPast(Object(value).beganAt);
  const item = await readItem(auditKey);
  const read = item && ifWellFormed(() => readFields(item, { since: isPast }, { round: isRound }));
  return read ?? { since: now - week };
}

export const writeProgress = (progress: AuditProgress) =>
  table.send(new PutCommand({ TableName: tableName, Item: { ...auditKey, ...progress } }));

/** The round that goes on or begins; undefined until a week after the last one. */
export const dueRound = ({ since, round }: AuditProgress, now: number): Round | undefined =>
  round ?? (now - since >= week ? { beganAt: now } : undefined);
