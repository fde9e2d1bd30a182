import { type CountedOwner, keyAt } from "../../../../shared/pages/tree/counted-list.ts";
import { readRoot } from "../../../../shared/pages/tree/tree-store.ts";
import { tableTime } from "../../common/table-clock.ts";
import { type Reading, readAllRows, toReading } from "../all-rows.ts";
import { describeSublist, readSublists } from "../tree-items.ts";
import { CollectedRows } from "./collected-rows.ts";
import { compareSublist } from "./compare-sublist.ts";
import { compareTree } from "./compare-tree.ts";
import type { Difference } from "./difference.ts";
import { findPersisting, type TreeDifferences } from "./persisting.ts";

/** A difference of a list, or of a sublist of this source or channel. */
export interface ListDifference extends Difference {
  readonly source?: string;
  readonly channel?: string;
}

/**
 * Counts all rows of a list and compares them with its tree, and with the trees of its sublists. The rows are read once, for
 * all of them.
 *
 * @returns the differences that stay the same
 */
export async function verify(owner: CountedOwner, options: Partial<Reading> = {}): Promise<ListDifference[]> {
  const reading = toReading(options);
  const first = await compareAll(owner, reading);
  const trees = await findPersisting(first, reading.wait);
  return trees.flatMap(({ owner, differences }) =>
    differences.map((difference) => ({ ...describeSublist(owner), ...difference })),
  );
}

/** Compares the trees of a list. */
async function compareAll(owner: CountedOwner, reading: Reading): Promise<TreeDifferences[]> {
  const { pace } = reading;
  const sublists = await readSublists(owner, pace);
  const end = keyAt(owner.list, tableTime());
  const collected = new CollectedRows(sublists, end);
  const collect = sublists.length > 0 ? { ...reading, onItems: collected.add.bind(collected) } : reading;
  const tree = { owner, pace, readRoot: () => pace.retry(() => readRoot(owner)) };
  const start = (await tree.readRoot())?.watermark ?? "";
  const compare = (reading: Reading) => (range: Parameters<typeof compareTree>[1]) =>
    compareTree({ ...tree, readRows: (entry) => readAllRows(owner, entry, reading) }, range);
  const differences = await compare(collect)({ start: "", end: undefined });
  const compared: TreeDifferences[] = [{ owner, differences, compare: compare(reading) }];
  if (sublists.length === 0) return compared;
  for await (const _ of readAllRows(owner, { start, end }, collect));
  for (const sublist of sublists) compared.push(await compareSublist(sublist, collected, pace));
  return compared;
}
