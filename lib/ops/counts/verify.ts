import { setTimeout } from "node:timers/promises";
import { type Cells, equalCells, noCells, sumCells } from "../../../shared/pages/tree/cells.ts";
import type { Entry } from "../../../shared/pages/tree/entry.ts";
import { cellNumber, type Names } from "../../../shared/pages/tree/names.ts";
import type { Root } from "../../../shared/pages/tree/root.ts";
import { readRows } from "../../../shared/pages/tree/rows.ts";
import { limits as inService, type Limits } from "../../../shared/pages/tree/tree-limits.ts";
import { type CountedOwner, readNode, readRoot } from "../../../shared/pages/tree/tree-store.ts";
import { type Bounded, type Difference, describeDifference } from "./difference.ts";

/** What a verification works with beside the table. */
export interface Verification {
  readonly limits?: Limits;
  readonly wait?: (milliseconds: number) => Promise<unknown>;
  /** Told of the rows that were read. */
  readonly onRows?: (rows: number) => void;
}

/** A difference that the stream has yet to mend is gone after one of these looks, this many milliseconds apart. */
const looks = 3;
const betweenLooks = 10_000;

/** How often a part is begun again when the tree changes while it is read. */
const attempts = 3;

const parallelLeaves = 8;

/** Counts all rows of a list anew and compares them with its tree. @returns the differences that last */
export async function verify(
  owner: CountedOwner,
  { limits = inService, wait = setTimeout, onRows = () => {} }: Verification = {},
): Promise<Difference[]> {
  const walk = { owner, onRows, limits };
  let differences = await look(walk, { start: "", end: undefined });
  for (let number = 2; number <= looks && differences.length > 0; number++) {
    await wait(betweenLooks);
    const lasting = new Map<string, Difference>();
    for (const { level, start, end } of differences) {
      for (const difference of await look(walk, { start, end, level })) {
        if (difference.level === level) lasting.set(`${level}#${difference.start}`, difference);
      }
    }
    differences = [...lasting.values()];
  }
  return differences;
}

interface Walk {
  readonly owner: CountedOwner;
  readonly onRows: (rows: number) => void;
  readonly limits: Limits;
}

/** A part of a list; with a level, only that level of the tree is looked at. */
interface Part {
  readonly start: string;
  readonly end: string | undefined;
  readonly level?: number;
}

/** Walks from the root, as it is now, to every leaf of a part. */
async function look(walk: Walk, part: Part, attempt = 1): Promise<Difference[]> {
  const root = await readRoot(walk.owner);
  if (!root) return [];
  const top = bounded(root.entries, root.last.start);
  const last = bounded([root.last], root.watermark);
  const nodes = await lookAt(walk, root, part, { entries: top, level: root.level, attempt });
  const leaves = await lookAt(walk, root, part, { entries: last, level: 0, attempt });
  return [...nodes, ...leaves];
}

interface Level {
  readonly entries: readonly Bounded[];
  readonly level: number;
  readonly attempt: number;
}

async function lookAt(walk: Walk, root: Root, part: Part, { entries, level, attempt }: Level) {
  const inPart = entries.filter(({ start, end }) => end > part.start && (part.end ?? end) > start);
  const differences: Difference[] = [];
  const atOnce = level === 0 ? parallelLeaves : 1;
  for (let from = 0; from < inPart.length; from += atOnce) {
    const looking = inPart
      .slice(from, from + atOnce)
      .map((entry) =>
        level === 0
          ? lookAtLeaf(walk, root, part, entry)
          : lookAtNode(walk, root, part, { entry, level, attempt }),
      );
    differences.push(...(await Promise.all(looking)).flat());
  }
  return differences;
}

async function lookAtNode(
  walk: Walk,
  root: Root,
  part: Part,
  { entry, level, attempt }: { entry: Bounded; level: number; attempt: number },
): Promise<Difference[]> {
  const node = await readNode(walk.owner, root.generation, level, entry.start);
  const sum = sumCells((node ?? []).map(({ cells }) => cells));
  const same = node !== undefined && equalCells(sum, entry.cells);
  // A node that was changed or split after the root was read is found whole from the root that is there now.
  if (!same && attempt < attempts) {
    const { start, end } = entry;
    return look(
      walk,
      { ...part, start: latest(start, part.start), end: earliest(end, part.end) },
      attempt + 1,
    );
  }
  const own =
    same || (part.level ?? level) !== level ? [] : [describeDifference(root.names, level, entry, sum)];
  if ((part.level ?? 0) >= level) return own;
  const entries = bounded(node ?? [], entry.end);
  return [...own, ...(await lookAt(walk, root, part, { entries, level: level - 1, attempt }))];
}

async function lookAtLeaf(walk: Walk, root: Root, part: Part, entry: Bounded): Promise<Difference[]> {
  // A pending leaf is still to be counted: until then lists do without the tree.
  if ((part.level ?? 0) > 0 || root.pending.includes(entry.start)) return [];
  const actual = await countRange(walk, root.names, entry);
  return equalCells(actual, entry.cells) ? [] : [describeDifference(root.names, 0, entry, actual)];
}

/** Counts the rows of a leaf's part as they are now. */
async function countRange({ owner, limits, onRows }: Walk, names: Names, { start, end }: Bounded) {
  let cells: Cells = noCells;
  for (let from: string | undefined = start; from !== undefined; ) {
    const { rows, next } = await readRows(owner, { start: from, end }, limits.rangeRows);
    cells = sumCells([cells, ...rows.map((row) => new Map([[cellNumber(names, row), 1]]))]);
    onRows(rows.length);
    from = next;
  }
  return cells;
}

const bounded = (entries: readonly Entry[], end: string): Bounded[] =>
  entries.map((entry, index) => ({ ...entry, end: entries[index + 1]?.start ?? end }));

const latest = (a: string, b: string) => (a > b ? a : b);
const earliest = (a: string, b: string | undefined) => (b === undefined || a < b ? a : b);
