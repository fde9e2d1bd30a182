import { PutCommand } from "@aws-sdk/lib-dynamodb";
import { ifValid, isCount, isText, readFields } from "../../dynamodb/invalid-items.ts";
import { auditKey, readPartition } from "../../dynamodb/keys.ts";
import { type Key, readItem, table, tableName } from "../../dynamodb/table-client.ts";

/** How often each list is verified, in milliseconds. */
const week = 7 * 24 * 3_600_000;

/** A round through the table. */
interface Round {
  /** In milliseconds since the epoch. */
  readonly beganAt: number;
  /** Where the scan continues; within a list, also where the unverified rows begin. Undefined at the beginning. */
  readonly position?: Key | undefined;
}

/** How far the audit has come. */
export interface AuditProgress {
  /** When the last whole round began, in milliseconds since the epoch. Since then, each list was verified or given up. */
  readonly since: number;
  readonly round?: Round | undefined;
}

/** Reads how far the audit has come. A round is due if there is no progress, or none that an audit can have stored. */
export async function readProgress(now: number): Promise<AuditProgress> {
  const isPast = (value: unknown): value is number => isCount(value) && value < now;
  const isRound = (value: unknown): value is Round | undefined => {
    const { beganAt, position } = Object(value);
    const isPosition = position === undefined || isKey(position);
    return value === undefined || (isPast(beganAt) && isPosition);
  };
  const item = await readItem(auditKey);
  const read = item && ifValid(() => readFields(item, { since: isPast, round: isRound }));
  return read ?? { since: now - week };
}

/** Whether a value can be the key of an item. */
function isKey(value: unknown): boolean {
  const { pk, sk } = Object(value);
  return isText(pk) && isText(sk) && readPartition(pk) !== undefined;
}

export const writeProgress = (progress: AuditProgress) =>
  table.send(new PutCommand({ TableName: tableName, Item: { ...auditKey, ...progress } }));

/** The round to continue or to begin; undefined until a week after the last whole round began. */
export const dueRound = ({ since, round }: AuditProgress, now: number): Round | undefined =>
  round ?? (now - since >= week ? { beganAt: now } : undefined);
