import { setTimeout } from "node:timers/promises";
import { TransactWriteCommand, type TransactWriteCommandInput } from "@aws-sdk/lib-dynamodb";
import { countNodeKey } from "../../../shared/dynamodb/keys.ts";
import { withRetry } from "../../../shared/dynamodb/retry.ts";
import { table, tableName } from "../../../shared/dynamodb/table-client.ts";
import { advance } from "../../../shared/pages/maintenance/advance.ts";
import { learnNames, type Names } from "../../../shared/pages/tree/names.ts";
import { emptyRoot, type Root, rootItem } from "../../../shared/pages/tree/root.ts";
import { limits as deployedLimits } from "../../../shared/pages/tree/tree-limits.ts";
import {
  type CountedOwner,
  isTreeChanged,
  orTreeChanged,
  type RootName,
  readRoot,
  versionIs,
} from "../../../shared/pages/tree/tree-store.ts";
import { UserError } from "../../errors.ts";
import { retryWhileBusy, type Wait } from "../retry-while-busy.ts";
import { type Reading, readAllRows } from "./all-rows.ts";
import { deleteOldNodes } from "./old-nodes.ts";

/** How long a list request may still read the old tree after it was replaced, in milliseconds. */
const longestRequest = 60_000;

/** How long to wait before the next step while another maintainer's clock is ahead, in milliseconds. */
const clockDelay = 500;

/**
 * Rebuilds the tree of a list while it is read and written. The new tree is compact, and its dictionaries have the most
 * frequent names. Until it replaces the old tree, maintainers keep both up to date. All rows are read twice.
 *
 * @throws UserError when another rebuild of the list starts
 */
export async function rebuild(
  owner: CountedOwner,
  { limits = deployedLimits, wait = setTimeout, onRows = () => {} }: Partial<Reading> = {},
): Promise<void> {
  const reading = { limits, wait, onRows };
  const { names, count } = await readFrequentNames(owner, reading);
  if (count === 0 && !(await retryWhileBusy(() => readRoot(owner), wait))) return;
  const generation = await retryCommit(() => startTree(owner, names), wait);
  while (!(await retryCommit(() => growTree(owner, generation, reading), wait)));
  await wait(longestRequest);
  await retryWhileBusy(() => deleteOldNodes(owner, wait), wait);
}

/** Reads all rows of a list. @returns dictionaries of the most frequent names, and the number of rows */
async function readFrequentNames(owner: CountedOwner, reading: Reading) {
  const statuses = new Map<string, number>();
  const sourcesOrChannels = new Map<string | undefined, number>();
  let count = 0;
  for await (const rows of readAllRows(owner, { start: "" }, reading)) {
    for (const { status, sourceOrChannel } of rows) {
      statuses.set(status, (statuses.get(status) ?? 0) + 1);
      sourcesOrChannels.set(sourceOrChannel, (sourcesOrChannels.get(sourceOrChannel) ?? 0) + 1);
    }
    count += rows.length;
  }
  let { names } = emptyRoot(0);
  for (const status of sortByFrequency(statuses)) names = learnNames(names, { status });
  for (const sourceOrChannel of sortByFrequency(sourcesOrChannels))
    names = learnNames(names, { sourceOrChannel });
  return { names, count };
}

const sortByFrequency = <T>(counts: Map<T, number>) =>
  [...counts].sort(([, a], [, b]) => b - a).map(([name]) => name);

/** Retries without a limit while other commits come first, and for a limited time while the table is busy. */
const retryCommit = <T>(attempt: () => Promise<T>, wait: Wait): Promise<T> =>
  withRetry(() => retryWhileBusy(attempt, wait), {
    deadline: Number.POSITIVE_INFINITY,
    isRetryable: isTreeChanged,
    wait,
  });

/** Writes an empty tree, which maintainers keep up to date from now on. @returns its generation */
async function startTree(owner: CountedOwner, names: Names): Promise<number> {
  const live = (await readRoot(owner)) ?? emptyRoot(1);
  const abandoned = await readRoot(owner, "next");
  const generation = Math.max(live.generation, abandoned?.generation ?? 0) + 1;
  const version = Math.max(live.version, abandoned?.version ?? 0) + 1;
  await writeRoots([
    putRoot(owner, "root", { ...live, version: live.version + 1, rebuilding: generation }, live.version),
    putRoot(owner, "next", { ...emptyRoot(generation, names), version }, abandoned?.version ?? 0),
  ]);
  return generation;
}

/** Counts more rows into the new tree, and replaces the old tree when all are counted. @returns whether it is replaced */
async function growTree(
  owner: CountedOwner,
  generation: number,
  { limits, wait, onRows }: Reading,
): Promise<boolean> {
  const clock = Date.now();
  const live = await readRoot(owner);
  // An earlier attempt replaced the tree, but its response was lost.
  if (live?.generation === generation) return true;
  const next = await readRoot(owner, "next");
  if (next?.generation !== generation || !live)
    throw new UserError("Another rebuild of this list has started, so this one stops.");
  const step = { name: "next", clock, keys: [], tail: true, always: true, limits } as const;
  const { more, counted } = await advance(owner, next, step);
  onRows(counted);
  if (more) return false;
  const grown = await readRoot(owner, "next");
  if (grown?.generation !== generation || grown.pending.length > 0) return false;
  // The watermark never moves back: rows that a maintainer with a faster clock has counted stay counted.
  if (grown.watermark < live.watermark) {
    await wait(clockDelay);
    return false;
  }
  const version = Math.max(live.version, grown.version) + 1;
  const Key = rootKey(owner, "next");
  await writeRoots([
    putRoot(owner, "root", { ...grown, version }, live.version),
    { Delete: { TableName: tableName, Key, ...versionIs(grown.version) } },
  ]);
  return true;
}

const rootKey = ({ account, list }: CountedOwner, name: RootName) => countNodeKey(list.type, account, name);

/** Writes a root over the version that was read. */
const putRoot = (owner: CountedOwner, name: RootName, root: Root, over: number) => ({
  Put: { TableName: tableName, Item: { ...rootKey(owner, name), ...rootItem(root) }, ...versionIs(over) },
});

/** Writes both roots, all or nothing. */
const writeRoots = (items: TransactWriteCommandInput["TransactItems"]) =>
  orTreeChanged(table.send(new TransactWriteCommand({ TransactItems: items })));
