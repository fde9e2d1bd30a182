import { inParallel } from "../../../../shared/pages/maintenance/in-parallel.ts";
import type { CountedOwner } from "../../../../shared/pages/tree/counted-list.ts";
import type { Root } from "../../../../shared/pages/tree/root.ts";
import { readRows } from "../../../../shared/pages/tree/rows.ts";
import { readRoot } from "../../../../shared/pages/tree/tree-store.ts";
import type { Pace } from "../../common/pace.ts";
import { paced } from "../all-rows.ts";
import { countedRows } from "../rebuild/rebuild-roots.ts";
import { describeSublist, readSublists } from "../tree-items.ts";
import { dearer, estimatePage, estimateShortSublist, type PageCost, sampleRowBytes } from "./page-cost.ts";

/** The most rows of the tail of a sublist that are read. */
const longestTail = 5000;

/** The state of the tree of a sublist. */
export interface SublistStatus extends PageCost {
  readonly index: string;
  /** The source, the channel or the id of the lead. */
  readonly of: string;
  readonly counted: number;
  readonly tail: number;
  readonly levels: number;
}

/** The list that costs most, by a page of 20 rows. */
export interface DearestList extends PageCost {
  readonly list: string;
}

/** Reads the state of the sublists of a list that have trees, the largest first, and finds the list that costs most. */
export async function readSublistStatus(
  owner: CountedOwner,
  { root, tail }: { readonly root: Root | undefined; readonly tail: number },
  pace: Pace,
): Promise<{ sublists: SublistStatus[]; dearest: DearestList }> {
  const type = `${owner.list.type}s`;
  const rowBytes = await sampleRowBytes(owner, pace);
  const lists: DearestList[] = [
    { list: `all ${type}`, ...estimatePage(owner, root, tail, rowBytes) },
    { list: `${type} of a source, channel or lead without counts`, ...estimateShortSublist(rowBytes) },
  ];
  const sublists: SublistStatus[] = [];
  await inParallel(await readSublists(owner, pace), async (sublistOwner) => {
    const root = await pace.retry(() => readRoot(sublistOwner));
    await pace.spend(1);
    const start = root?.watermark ?? "";
    const { rows } = await readRows(sublistOwner, { start }, { ...paced(pace), maxRows: longestTail });
    const cost = estimatePage(sublistOwner, root, rows.length, rowBytes);
    const [[name, of] = ["", ""]] = Object.entries(describeSublist(sublistOwner));
    const { index } = sublistOwner.sublist;
    const counted = root ? countedRows(root) : 0;
    sublists.push({ index, of, counted, tail: rows.length, levels: root?.level ?? 0, ...cost });
    lists.push({ list: `${type} of the ${name} ${of}`, ...cost });
  });
  sublists.sort((a, b) => b.counted - a.counted);
  return { sublists, dearest: lists.reduce(dearer) };
}
