import { PutCommand } from "@aws-sdk/lib-dynamodb";
import { ifValid, isCount, isText, logInvalidItem, readFields } from "../../dynamodb/invalid-items.ts";
import { auditKey, readPartition } from "../../dynamodb/keys.ts";
import { type Key, readItem, table, tableName } from "../../dynamodb/table-client.ts";

/** How often each list is verified, in milliseconds. */
const week = 7 * 24 * 3_600_000;

/** A round through the table. */
export interface Round {
  /** In milliseconds since the epoch. */
  readonly beganAt: number;
  /** How many lists it has verified or given up. */
  readonly lists: number;
  /** Where the scan continues; within a list, also where the unverified rows begin. Undefined at the beginning. */
  readonly position?: Key | undefined;
}

/** How far the audit has come. */
export interface AuditProgress {
  /** When the last whole round began, in milliseconds since the epoch. Since then, each list was verified or given up. */
  readonly since: number;
  /** How many lists that round had. */
  readonly lists: number;
  readonly round?: Round | undefined;
}

/** Reads how far the audit has come. A round is due if there is no progress, or none that an audit can have stored. */
export async function readProgress(now: number): Promise<AuditProgress> {
  const isPast = (value: unknown): value is number => isCount(value) && value < now;
  const isRound = (value: unknown): value is Round | undefined => {
    const { beganAt, lists, position } = Object(value);
    const isPosition = position === undefined || isKey(position);
    return value === undefined || (isPast(beganAt) && isCount(lists) && isPosition);
  };
  const item = await readItem(auditKey);
  const read = item && ifValid(() => readFields(item, { since: isPast, lists: isCount, round: isRound }));
  return read ?? { since: now - week, lists: 0 };
}

/** Whether a value can be the key of an item. */
function isKey(value: unknown): boolean {
  const { pk, sk } = Object(value);
  return isText(pk) && isText(sk) && readPartition(pk) !== undefined;
}

export const writeProgress = (progress: AuditProgress) =>
  table.send(new PutCommand({ TableName: tableName, Item: { ...auditKey, ...progress } }));

/** The round to continue or to begin; undefined until a week after the last round with lists began. */
export const dueRound = ({ since, lists, round }: AuditProgress, now: number): Round | undefined =>
  round ?? (lists === 0 || now - since >= week ? { beganAt: now, lists: 0 } : undefined);

/**
 * The progress at the end of a round. A round that found no list is not trusted, and the next round is due at once. It is
 * logged, unless it began in this run: then the table has no list.
 *
 * @param isStored whether the round began before this run
 */
export function endRound({ beganAt, lists }: Round, isStored: boolean): AuditProgress {
  if (isStored && lists === 0) logInvalidItem({ ...auditKey, field: "round" });
  return { since: beganAt, lists };
}
