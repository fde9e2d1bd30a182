import type { DynamoDBRecord } from "aws-lambda";
import { readListPartition } from "../../dynamodb/keys.ts";
import { countedLists } from "../tree/counted-list.ts";
import type { CountedOwner } from "../tree/tree-store.ts";

/** The rows of one list whose counts a batch of the table's stream may have changed. */
export interface Changes {
  readonly owner: CountedOwner;
  /** The rows' sort keys. */
  readonly keys: readonly string[];
  /** The sequence numbers of the records, by which a failure is reported. */
  readonly sequenceNumbers: readonly string[];
}

/** Tells what a batch changed, list by list; a change that no count shows is left out. */
export function countedChanges(records: readonly DynamoDBRecord[]): Changes[] {
  const byPartition = new Map<string, { owner: CountedOwner; keys: string[]; sequenceNumbers: string[] }>();
  for (const record of records) {
    const { pk, sk, sequenceNumber } = identify(record);
    const partition = readListPartition(pk);
    if (!partition || !isCounted(record, countedLists[partition.type].sourceOrChannelAttribute)) continue;
    const owner = { account: partition.account, list: countedLists[partition.type] };
    const changes = byPartition.get(pk) ?? { owner, keys: [], sequenceNumbers: [] };
    byPartition.set(pk, changes);
    changes.keys.push(sk);
    changes.sequenceNumbers.push(sequenceNumber);
  }
  return [...byPartition.values()];
}

function identify({ dynamodb }: DynamoDBRecord) {
  const { Keys, SequenceNumber } = dynamodb ?? {};
  return { pk: Keys?.pk?.S ?? "", sk: Keys?.sk?.S ?? "", sequenceNumber: SequenceNumber ?? "" };
}

/** Whether a row came, went, or has another status or origin: the count of messages, for one, is in no cell. */
function isCounted({ dynamodb }: DynamoDBRecord, sourceOrChannelAttribute: string): boolean {
  const { OldImage: before, NewImage: after } = dynamodb ?? {};
  if (!before || !after) return true;
  return (
    before.status?.S !== after.status?.S ||
    before[sourceOrChannelAttribute]?.S !== after[sourceOrChannelAttribute]?.S
  );
}
