import type { DynamoDBRecord } from "aws-lambda";
import { readListPartition } from "../../dynamodb/keys.ts";
import { countedLists } from "../tree/counted-list.ts";
import type { CountedOwner } from "../tree/tree-store.ts";

/** The rows of one list that a batch of the table's stream may have moved between cells. */
export interface Changes {
  readonly owner: CountedOwner;
  readonly keys: readonly string[];
  /** The sequence numbers of the records, which report a failure. */
  readonly sequenceNumbers: readonly string[];
}

/** Groups the changes of a batch by list, without those that change no count. */
export function countedChanges(records: readonly DynamoDBRecord[]): Changes[] {
  const byPartition = Map.groupBy(records, ({ dynamodb }) => dynamodb?.Keys?.pk?.S ?? "");
  return [...byPartition].flatMap(([pk, changes]) => {
    const partition = readListPartition(pk);
    if (!partition) return [];
    const list = countedLists[partition.type];
    const counted = changes.filter((record) => isCounted(record, list.attribute));
    if (counted.length === 0) return [];
    return {
      owner: { account: partition.account, list },
      keys: counted.map(({ dynamodb }) => dynamodb?.Keys?.sk?.S ?? ""),
      sequenceNumbers: counted.map(({ dynamodb }) => dynamodb?.SequenceNumber ?? ""),
    };
  });
}

/** Whether a row was created, deleted, or moved to another status, source or channel. */
function isCounted({ dynamodb }: DynamoDBRecord, attribute: string): boolean {
  const { OldImage: before, NewImage: after } = dynamodb ?? {};
  if (!before || !after) return true;
  return before.status?.S !== after.status?.S || before[attribute]?.S !== after[attribute]?.S;
}
