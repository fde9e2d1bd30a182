import { indexes } from "../../../shared/dynamodb/keys.ts";
import { type BatchKeys, keysOf, type TableKeys, type Values } from "./batch-keys.ts";
import type { Use } from "./partition-limits.ts";

/** The parts of a write that tell which partitions it changes. */
interface Write {
  readonly Item?: Values | undefined;
  readonly Key?: Values | undefined;
  readonly UpdateExpression?: string | undefined;
  readonly ExpressionAttributeValues?: Values | undefined;
}

/** The parts of a call's input that tell which partitions it uses. */
export interface CallInput extends Write {
  readonly IndexName?: string | undefined;
  readonly KeyConditionExpression?: string | undefined;
  readonly TransactItems?: readonly object[] | undefined;
  readonly RequestItems?: Readonly<Record<string, readonly object[] | TableKeys>> | undefined;
}

/** A partition key that a call uses, with the item of the call that uses it. */
export interface ItemUse extends Use {
  /** The position of the item in its transaction or batch; 0 for other calls. */
  readonly item: number;
}

/**
 * The partition keys that a call uses. An update is known to change an index only if it sets the index's key.
 *
 * @param operation such as `TransactWriteItems`
 */
export function findUses(operation: string, input: CallInput): readonly ItemUse[] {
  if (operation === "Query") return [{ ...queryUse(input), item: 0 }];
  if (operation === "GetItem") return keyUses([input.Key]);
  if (operation === "BatchGetItem") return keyUses(keysOf((input.RequestItems ?? {}) as BatchKeys));
  if (operation === "TransactWriteItems") return entryUses(input.TransactItems ?? []);
  if (operation === "BatchWriteItem") return entryUses(Object.values(input.RequestItems ?? {}).flat());
  return writeUses(input, 0);
}

const keyUses = (keys: readonly (Values | undefined)[]) =>
  keys.map((key, item) => ({ kind: "read" as const, partition: text(key?.pk), item }));

/** The uses of writes, each in an object that tells its kind. */
const entryUses = (entries: readonly object[]) =>
  entries.flatMap((entry, item) =>
    (Object.values(entry) as Write[]).flatMap((write) => writeUses(write, item)),
  );

function queryUse({ IndexName, KeyConditionExpression = "", ExpressionAttributeValues }: CallInput): Use {
  const name = /= *(:\w+)/.exec(KeyConditionExpression)?.[1] ?? "";
  return { kind: "read", index: IndexName, partition: text(ExpressionAttributeValues?.[name]) };
}

function writeUses(write: Write, item: number): ItemUse[] {
  const { Item, Key } = write;
  const table = { kind: "write", partition: text((Item ?? Key)?.pk), item } as const;
  const inIndexes = Object.entries(indexes).flatMap(([index, attribute]): ItemUse[] => {
    const key = Item ? Item[attribute] : findAssigned(write, attribute);
    return key === undefined ? [] : [{ kind: "write", index, partition: text(key), item }];
  });
  return [table, ...inIndexes];
}

function findAssigned({ UpdateExpression = "", ExpressionAttributeValues }: Write, attribute: string) {
  const name = new RegExp(`\\b${attribute} *= *(:\\w+)`).exec(UpdateExpression)?.[1];
  return name === undefined ? undefined : ExpressionAttributeValues?.[name];
}

const text = (value: unknown) =>
  typeof value === "object" && value !== null && "S" in value ? String(value.S) : String(value);
