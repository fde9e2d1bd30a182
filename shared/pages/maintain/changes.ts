import type { DynamoDBRecord } from "aws-lambda";
import { isLabelPartition } from "../../dynamodb/keys.ts";
import { idTimestamp } from "../../ids.ts";
import { type CountedOwner, findList, isRowKey } from "../tree/counted-list.ts";
import { limits } from "../tree/tree-limits.ts";

/** A change of a row that may have moved it between buckets or lists. */
export interface RowChange {
  readonly key: string;
  /** The sequence number of the record, which reports a failure. */
  readonly sequenceNumber: string;
  /** Created by a route, right after its id; or changed, deleted, or new with an earlier time. */
  readonly kind: "created" | "changed";
  /** The partitions of its source or channel in `by-label`, before and after. */
  readonly labelKeys: readonly string[];
  /** When the row was written at the latest, in milliseconds since the epoch; undefined without a record. */
  readonly writtenBefore?: number;
  /** Of a row that a route has written late: how long after its id, at most, in milliseconds. */
  readonly lateness?: number | undefined;
}

/** How old a row is at most when a route writes it, in milliseconds: an older row is from an import or a copy. */
const oldestOfRoutes = 60_000;

/** The rows of one list that a batch of the table's stream may have moved. */
export interface Changes {
  readonly owner: CountedOwner;
  /** In the order of the stream. */
  readonly rows: readonly RowChange[];
}

/** Groups the changes of a batch by list, without those that change no count. */
export function countedChanges(records: readonly DynamoDBRecord[]): Changes[] {
  const byPartition = Map.groupBy(records, ({ dynamodb }) => dynamodb?.Keys?.pk?.S ?? "");
  return [...byPartition].flatMap(([pk, changes]) => {
    const owner = findList(pk);
    if (!owner) return [];
    const counted = changes.filter(
      (record) => isRowKey(owner.list, record.dynamodb?.Keys?.sk?.S) && hasChanged(record),
    );
    const rows = counted.map(toRowChange(owner));
    return rows.length === 0 ? [] : { owner, rows };
  });
}

/** Whether a row was created or deleted, or has another status or label. */
function hasChanged({ dynamodb }: DynamoDBRecord): boolean {
  const { OldImage: before, NewImage: after } = dynamodb ?? {};
  if (!before || !after) return true;
  return ["status", "byLabel"].some((name) => before[name]?.S !== after[name]?.S);
}

const toRowChange =
  ({ account, list }: CountedOwner) =>
  (record: DynamoDBRecord): RowChange => {
    const { Keys, OldImage, NewImage, SequenceNumber = "", ...written } = record.dynamodb ?? {};
    const key = Keys?.sk?.S ?? "";
    // The time is in whole seconds, and clocks differ. A record without one, which AWS does not send, may be late.
    const writtenBefore = 1000 * ((written.ApproximateCreationDateTime ?? Date.now() / 1000 + 60) + 1);
    const lateness = writtenBefore - idTimestamp(key);
    const isLate = lateness > limits.allowedLateness - limits.skew;
    const isOfRoute = !OldImage && !NewImage?.imported && lateness < oldestOfRoutes;
    const found = [OldImage, NewImage]
      .map((image) => image?.byLabel?.S)
      .filter((labelKey) => isLabelPartition(list.type, account, labelKey));
    return {
      key,
      sequenceNumber: SequenceNumber,
      kind: OldImage || isLate ? "changed" : "created",
      labelKeys: [...new Set(found)],
      writtenBefore,
      lateness: isLate && isOfRoute ? lateness : undefined,
    };
  };
