import { idTimestamp } from "../../../shared/ids.ts";
import { inParallel } from "../../../shared/pages/maintenance/in-parallel.ts";
import type { CountedOwner } from "../../../shared/pages/tree/counted-list.ts";
import { readRows } from "../../../shared/pages/tree/rows.ts";
import { readRoot } from "../../../shared/pages/tree/tree-store.ts";
import type { Pace } from "../common/pace.ts";
import { tableTime } from "../common/table-clock.ts";
import { paced } from "./all-rows.ts";
import { countedRows, readRebuild } from "./rebuild/rebuild-roots.ts";
import { describeSublist, readSublists } from "./tree-items.ts";

/** The most rows of a tail that are read. */
const longestTail = 10_000;

/** The state of the counts of a list. */
export interface ListStatus {
  readonly account: string;
  readonly list: string;
  /** The number of rows in the tree. */
  readonly counted: number;
  /** The number of rows that are not counted yet, and whether there are more. */
  readonly tail: number;
  readonly longerTail: boolean;
  /** The age of the oldest row that is not counted, in seconds. */
  readonly oldestTailSeconds: number | undefined;
  /** The levels of nodes; undefined without a tree. */
  readonly levels: number | undefined;
  readonly generation: number | undefined;
  readonly version: number | undefined;
  /** The dictionaries that refused a name. */
  readonly full: readonly string[];
  /** The number of leaves without counts. */
  readonly pending: number;
  readonly rebuild: RebuildStatus | undefined;
  /** The sublists with trees of their own, the largest first. */
  readonly sublists: readonly SublistStatus[];
}

/** The state of the tree of a sublist. */
interface SublistStatus {
  readonly index: string;
  /** The source or the channel. */
  readonly of: string;
  readonly counted: number;
  readonly tail: number;
  readonly levels: number;
}

interface RebuildStatus {
  /** The share of the rows that is counted. */
  readonly percent: number;
  readonly secondsSinceProgress: number | undefined;
}

/** Reads the state of the counts of a list. */
export async function readStatus(owner: CountedOwner, pace: Pace): Promise<ListStatus> {
  const { live, next } = await pace.retry(() => readRebuild(owner));
  const start = live?.watermark ?? "";
  const tail = await readRows(owner, { start }, { ...paced(pace), maxRows: longestTail });
  const age = (time: number) => Math.max(0, Math.round((tableTime() - time) / 1000));
  const counted = live ? countedRows(live) : 0;
  const [oldest] = tail.rows;
  return {
    account: owner.account,
    list: `${owner.list.type}s`,
    counted,
    tail: tail.rows.length,
    longerTail: tail.next !== undefined,
    oldestTailSeconds: oldest && age(idTimestamp(oldest.sk)),
    levels: live?.level,
    generation: live?.generation,
    version: live?.version,
    full: live?.statuses.full ? ["statuses"] : [],
    pending: live?.pending.length ?? 0,
    sublists: await readSublistStatus(owner, pace),
    rebuild: next && {
      percent: Math.floor((100 * countedRows(next)) / Math.max(1, counted + tail.rows.length)),
      secondsSinceProgress: next.progressAt === undefined ? undefined : age(next.progressAt),
    },
  };
}

/** Reads the state of the sublists of a list that have trees, the largest first. */
async function readSublistStatus(owner: CountedOwner, pace: Pace): Promise<SublistStatus[]> {
  const sublists: SublistStatus[] = [];
  await inParallel(await readSublists(owner, pace), async (sublistOwner) => {
    const root = await pace.retry(() => readRoot(sublistOwner));
    await pace.spend(1);
    const start = root?.watermark ?? "";
    const { rows } = await readRows(sublistOwner, { start }, { ...paced(pace), maxRows: longestTail });
    const [of = ""] = Object.values(describeSublist(sublistOwner));
    const { index } = sublistOwner.sublist;
    const counted = root ? countedRows(root) : 0;
    sublists.push({ index, of, counted, tail: rows.length, levels: root?.level ?? 0 });
  });
  return sublists.sort((a, b) => b.counted - a.counted);
}
