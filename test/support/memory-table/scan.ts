import type { ScanCommandInput } from "@aws-sdk/lib-dynamodb";
import { hashName } from "../../../shared/dynamodb/keys.ts";
import { holds, project } from "./expressions.ts";
import type { Row } from "./partitions.ts";
import { pageBytes, readUnits } from "./query.ts";
import type { StoredItems } from "./stored-items.ts";

const hashes = new Map<string, string>();

function hashOf(partition: string): string {
  let hash = hashes.get(partition);
  if (hash === undefined) {
    hash = hashName(partition);
    hashes.set(partition, hash);
  }
  return hash;
}

/** The place of an item in a scan, which returns partitions in the order of their hashes. */
const placeOf = ({ pk, sk }: Pick<Row, "pk" | "sk">) => `${hashOf(pk)} ${sk}`;

/** A page of a scan, of the whole table or of a segment. It begins after any key. */
export function scan(items: StoredItems, input: ScanCommandInput) {
  const { Limit = Number.POSITIVE_INFINITY, Segment = 0, TotalSegments = 1, ExclusiveStartKey } = input;
  const start = ExclusiveStartKey ? placeOf(ExclusiveStartKey as Pick<Row, "pk" | "sk">) : "";
  const left = [...items.in(undefined).all()]
    .filter(({ pk }) => hashOf(pk).charCodeAt(0) % TotalSegments === Segment)
    .map((row) => ({ row, place: placeOf(row) }))
    .filter(({ place }) => place > start)
    .sort((a, b) => (a.place < b.place ? -1 : 1));
  const page: Row[] = [];
  let bytes = 0;
  for (const { row } of left) {
    if (page.length >= Limit || bytes >= pageBytes) break;
    page.push(row);
    bytes += row.size;
  }
  const { pk, sk } = page.at(-1) ?? {};
  const output = {
    Items: page
      .filter(({ item }) => holds(input.FilterExpression, item, input))
      .map(({ item }) => project(input.ProjectionExpression, input)(item)),
    ScannedCount: page.length,
    ...(page.length < left.length && { LastEvaluatedKey: { pk, sk } }),
  };
  return { output, reads: readUnits(bytes, input.ConsistentRead) };
}
