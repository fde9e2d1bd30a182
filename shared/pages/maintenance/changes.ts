import { isDeepStrictEqual } from "node:util";
import type { DynamoDBRecord } from "aws-lambda";
import { indexes, readListPartition, type Sublist, sublistIndexes } from "../../dynamodb/keys.ts";
import {
  type CountedList,
  type CountedOwner,
  countedLists,
  type Filter,
  keyAt,
} from "../tree/counted-list.ts";
import { limits } from "../tree/tree-limits.ts";

/** A change of a row that may have moved it between cells or lists. */
export interface RowChange {
  readonly key: string;
  /** The sequence number of the record, which reports a failure. */
  readonly sequenceNumber: string;
  /** Created by a route, right after its id; new in a list in which it has an earlier time; changed or deleted. */
  readonly kind: "created" | "backdated" | "changed";
  /** The sublists that have or had the row. */
  readonly sublists: readonly RowSublist[];
}

/** A sublist of a row, with the row's status and its source or channel, before and after the change. */
export interface RowSublist {
  readonly sublist: Sublist;
  readonly filters: readonly Filter[];
}

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
    const partition = readListPartition(pk);
    if (!partition) return [];
    const list = countedLists[partition.type];
    const attributes = ["status", list.attribute, ...sublistIndexes.map((index) => indexes[index])];
    const rows = changes.filter((record) => isCounted(record, attributes)).map(toRowChange(list));
    return rows.length === 0 ? [] : { owner: { account: partition.account, list }, rows };
  });
}

/** Whether a row was created or deleted, or one of its attributes has changed. */
function isCounted({ dynamodb }: DynamoDBRecord, attributes: readonly string[]): boolean {
  const { OldImage: before, NewImage: after } = dynamodb ?? {};
  if (!before || !after) return true;
  return attributes.some((attribute) => before[attribute]?.S !== after[attribute]?.S);
}

const toRowChange =
  (list: CountedList) =>
  ({ dynamodb = {} }: DynamoDBRecord): RowChange => {
    const { Keys, OldImage, NewImage, SequenceNumber = "", ApproximateCreationDateTime } = dynamodb;
    const key = Keys?.sk?.S ?? "";
    // The time is in whole seconds, and clocks differ. A record without one, which AWS does not send, may be late.
    const writtenBefore = 1000 * ((ApproximateCreationDateTime ?? Date.now() / 1000 + 60) + 1);
    const late = key < keyAt(list, writtenBefore - limits.allowedLateness + limits.skew);
    const images = [OldImage, NewImage].filter((image) => image !== undefined);
    const sublists = sublistIndexes.flatMap((index) =>
      [...Map.groupBy(images, (image) => image[indexes[index]]?.S)].flatMap(([partition, some]) => {
        if (partition === undefined) return [];
        const filters = some.map((image) => ({
          status: image.status?.S,
          sourceOrChannel: image[list.attribute]?.S,
        }));
        // The row is counted in this sublist as before; another one has changed.
        if (some.length === 2 && isDeepStrictEqual(filters[0], filters[1])) return [];
        return { sublist: { index, partition }, filters };
      }),
    );
    const moved = OldImage && NewImage && sublists.some(({ filters }) => filters.length < images.length);
    const kind = moved || (late && !OldImage) ? "backdated" : OldImage ? "changed" : "created";
    return { key, sequenceNumber: SequenceNumber, kind, sublists };
  };
