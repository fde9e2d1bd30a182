import type { DynamoDBRecord } from "aws-lambda";
import { leadItem } from "../../../shared/domain/leads.ts";
import { createdAt, idTimestamp } from "../../../shared/ids.ts";
import { streamRecord } from "../../support/stream-record.ts";
import type { LeadRow } from "./rows.ts";

/** The other fields of a lead that a caller sets. */
export const details = (mark: string) => ({
  name: `Lead ${mark}`,
  email: `${mark.toLowerCase()}@example.com`,
  tags: ["import"],
});

/** The item of a row in the table. */
export const rowItem = (account: string, row: LeadRow) =>
  leadItem(account, { score: 0, ...details(row.id.slice(-10)), ...row, createdAt: createdAt(row.id) });

/** The stream's record of a change that was made at a time, in milliseconds since the epoch. */
export function changeRecord(
  before: Readonly<Record<string, unknown>> | undefined,
  after: Readonly<Record<string, unknown>>,
  at = Date.now(),
): DynamoDBRecord {
  const { dynamodb } = streamRecord(before, after);
  return { dynamodb: { ...dynamodb, ApproximateCreationDateTime: Math.floor(at / 1000) } };
}

/** The stream's record of a row that was created at the time in its id. */
export const createdRecord = (account: string, row: LeadRow): DynamoDBRecord =>
  changeRecord(undefined, rowItem(account, row), idTimestamp(row.id));
