import { setTimeout } from "node:timers/promises";
import { BatchWriteCommand, paginateQuery, TransactWriteCommand } from "@aws-sdk/lib-dynamodb";
import { countNodeKey, nodePrefix, parseGeneration } from "../../../shared/dynamodb/keys.ts";
import { table, tableName } from "../../../shared/dynamodb/table-client.ts";
import { advance } from "../../../shared/pages/maintenance/advance.ts";
import { learnNames, type Names } from "../../../shared/pages/tree/names.ts";
import { emptyRoot, type Root, rootItem } from "../../../shared/pages/tree/root.ts";
import { readRows } from "../../../shared/pages/tree/rows.ts";
import { limits as inService, type Limits } from "../../../shared/pages/tree/tree-limits.ts";
import {
  type CountedOwner,
  orTreeChanged,
  readRoot,
  TreeChangedError,
  versionIs,
} from "../../../shared/pages/tree/tree-store.ts";

/** What a rebuild works with beside the table. */
export interface Rebuild {
  readonly limits?: Limits;
  readonly wait?: (milliseconds: number) => Promise<unknown>;
  /** Told of the rows that were read; all of them are read twice. */
  readonly onRows?: (rows: number) => void;
}

/** How long lists that began before may go on reading the old tree, in milliseconds. */
const readersEnd = 60_000;

/** How long a rebuild waits at once for its clock to come up to a faster one, in milliseconds. */
const clockPause = 500;

/** The longest pause before the next attempt when another commit came first, in milliseconds. */
const longestPause = 200;

/**
 * Makes the tree of a list anew, while it is read and written: compact, and with the most frequent names in its
 * dictionaries. Until it takes the old one's place, maintainers keep both up to date.
 */
export async function rebuild(
  owner: CountedOwner,
  { limits = inService, wait = setTimeout, onRows = () => {} }: Rebuild = {},
): Promise<void> {
  const { names, rows } = await frequentNames(owner, limits, onRows);
  if (rows === 0 && !(await readRoot(owner))) return;
  const generation = await untilCommitted(wait, () => begin(owner, names));
  await untilCommitted(wait, () => build(owner, generation, { limits, wait, onRows }));
  await wait(readersEnd);
  await removeOldNodes(owner);
}

/** Dictionaries of the most frequent names that the rows have, and how many rows there are. */
async function frequentNames(
  owner: CountedOwner,
  limits: Limits,
  onRows: (rows: number) => void,
): Promise<{ readonly names: Names; readonly rows: number }> {
  const statuses = new Map<string, number>();
  const labels = new Map<string | undefined, number>();
  let read = 0;
  for (let start: string | undefined = ""; start !== undefined; ) {
    const { rows, next } = await readRows(owner, { start }, limits.rangeRows);
    for (const { status, sourceOrChannel } of rows) {
      statuses.set(status, (statuses.get(status) ?? 0) + 1);
      labels.set(sourceOrChannel, (labels.get(sourceOrChannel) ?? 0) + 1);
    }
    onRows(rows.length);
    read += rows.length;
    start = next;
  }
  const byFrequency = <T>(counts: Map<T, number>) =>
    [...counts].sort(([, a], [, b]) => b - a).map(([name]) => name);
  let names = emptyRoot(0).names;
  for (const status of byFrequency(statuses))
    names = learnNames(names, { status, sourceOrChannel: undefined });
  for (const sourceOrChannel of byFrequency(labels))
    names = learnNames(names, { status: undefined, sourceOrChannel });
  return { names, rows: read };
}

/** Makes an empty tree that maintainers are to keep up to date with the one in service. @returns its generation */
async function begin(owner: CountedOwner, names: Names): Promise<number> {
  const live = (await readRoot(owner)) ?? emptyRoot(1);
  const abandoned = await readRoot(owner, "next");
  const generation = Math.max(live.generation, abandoned?.generation ?? 0) + 1;
  const version = Math.max(live.version, abandoned?.version ?? 0) + 1;
  await writeRoots(owner, [
    { put: { ...live, version: live.version + 1, rebuilding: generation }, as: "root", over: live.version },
    { put: { ...emptyRoot(generation, names), version }, as: "next", over: abandoned?.version ?? 0 },
  ]);
  return generation;
}

/** Counts all rows into the new tree, and puts it in the old one's place. */
async function build(
  owner: CountedOwner,
  generation: number,
  { limits, wait, onRows }: Required<Rebuild>,
): Promise<void> {
  for (;;) {
    const clock = Date.now();
    const live = await readRoot(owner);
    const next = await readRoot(owner, "next");
    if (next?.generation !== generation || !live)
      throw new Error("Another rebuild has taken this one's place.");
    const step = { name: "next", clock, keys: [], tail: true, always: true, limits } as const;
    const { more, counted } = await advance(owner, next, step);
    onRows(counted);
    if (more) continue;
    const built = await readRoot(owner, "next");
    if (!built || built.generation !== generation) continue;
    if (built.pending.length > 0) continue;
    // The tail never gets longer: what a maintainer with a faster clock has counted stays counted.
    if (built.watermark < live.watermark) {
      await wait(clockPause);
      continue;
    }
    const version = Math.max(live.version, built.version) + 1;
    await writeRoots(owner, [
      { put: { ...built, version }, as: "root", over: live.version },
      { remove: "next", over: built.version },
    ]);
    return;
  }
}

type RootWrite =
  | { readonly put: Root; readonly as: "root" | "next"; readonly over: number }
  | { readonly remove: "next"; readonly over: number };

/** Writes roots over the versions that were read, all or nothing. */
async function writeRoots({ account, list }: CountedOwner, writes: readonly RootWrite[]): Promise<void> {
  const key = (name: string) => countNodeKey(list.type, account, name);
  const items = writes.map((write) =>
    "put" in write
      ? {
          Put: {
            TableName: tableName,
            Item: { ...key(write.as), ...rootItem(write.put) },
            ...versionIs(write.over),
          },
        }
      : { Delete: { TableName: tableName, Key: key(write.remove), ...versionIs(write.over) } },
  );
  await orTreeChanged(table.send(new TransactWriteCommand({ TransactItems: items })));
}

async function untilCommitted<T>(
  wait: (milliseconds: number) => Promise<unknown>,
  attempt: () => Promise<T>,
): Promise<T> {
  for (;;) {
    try {
      return await attempt();
    } catch (error) {
      if (!(error instanceof TreeChangedError)) throw error;
      await wait(Math.random() * longestPause);
    }
  }
}

/** Removes the nodes of the trees before the one in service; a rebuild may be making a later one. */
async function removeOldNodes(owner: CountedOwner): Promise<void> {
  const live = await readRoot(owner);
  if (!live) return;
  const { pk } = countNodeKey(owner.list.type, owner.account, "");
  const pages = paginateQuery(
    { client: table, pageSize: 500 },
    {
      TableName: tableName,
      KeyConditionExpression: "pk = :pk AND begins_with(sk, :prefix)",
      ExpressionAttributeValues: { ":pk": pk, ":prefix": nodePrefix },
      ProjectionExpression: "sk",
    },
  );
  for await (const { Items = [] } of pages) {
    const old = Items.map(({ sk }) => String(sk)).filter((sk) => parseGeneration(sk) < live.generation);
    for (let from = 0; from < old.length; from += 25) {
      let requests = old.slice(from, from + 25).map((sk) => ({ DeleteRequest: { Key: { pk, sk } } }));
      while (requests.length > 0) {
        const { UnprocessedItems } = await table.send(
          new BatchWriteCommand({ RequestItems: { [tableName]: requests } }),
        );
        requests = (UnprocessedItems?.[tableName] ?? []) as typeof requests;
      }
    }
  }
}
