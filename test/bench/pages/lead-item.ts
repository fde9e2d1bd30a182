import type { AttributeValue } from "aws-lambda";
import {
  leadKey,
  sourceOrChannelPartition,
  statusAndSourceOrChannelPartition,
  statusPartition,
} from "../../../shared/dynamodb/keys.ts";
import { createdAt } from "../../../shared/ids.ts";
import type { Lead } from "../../../shared/schemas/lead-schemas.ts";

/** What a benchmark keeps in mind of a lead. */
export interface Row {
  readonly id: string;
  readonly status: Lead["status"];
  readonly source: string;
}

/** What all leads of the benchmarks say besides. */
export const details = (mark: string) => ({
  name: `Lead ${mark}`,
  email: `${mark.toLowerCase()}@example.com`,
  tags: ["import"],
});

/** The lead's keys, the index attributes among them. */
export const leadKeys = (account: string, { id, status, source }: Row) => ({
  ...leadKey(account, id),
  byStatus: statusPartition("lead", account, status),
  byOrigin: sourceOrChannelPartition("lead", account, source),
  byStatusAndOrigin: statusAndSourceOrChannelPartition("lead", account, status, source),
});

/** The lead as the table holds it. */
export const leadItem = (account: string, row: Row) => ({
  ...leadKeys(account, row),
  score: 0,
  ...details(row.id.slice(-10)),
  ...row,
  createdAt: createdAt(row.id),
});

/** An item in DynamoDB's JSON, as exports and streams have it. */
export const toAttributes = (item: Readonly<Record<string, unknown>>): Record<string, AttributeValue> =>
  Object.fromEntries(Object.entries(item).map(([name, value]) => [name, toAttribute(value)]));

function toAttribute(value: unknown): AttributeValue {
  if (Array.isArray(value)) return { L: value.map(toAttribute) };
  return typeof value === "number" ? { N: String(value) } : { S: String(value) };
}
