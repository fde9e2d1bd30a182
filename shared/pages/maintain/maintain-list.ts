import { TooExpensiveError } from "../../dynamodb/dynamodb-errors.ts";
import { inParallel } from "../../in-parallel.ts";
import { type CountedOwner, keyAt, latest } from "../tree/counted-list.ts";
import { readRows } from "../tree/rows.ts";
import { isTreeChanged, readFed } from "../tree/tree-store.ts";
import type { RowChange } from "./changes.ts";
import { feedLabelTrees } from "./feed-label-trees.ts";
import { MaintainedTree, type Maintenance, stepContext } from "./maintained-tree.ts";
import { setRows } from "./set-rows.ts";

/** The work on the tree of a whole list. */
interface ListState {
  /** Whether something is left for another step. */
  readonly more: boolean;
  /** The sort keys of changed, deleted or back-dated rows that are not counted yet, in the order of the stream. */
  readonly changed: readonly string[];
  /** Whether counting pays as soon as the newest rows are old enough. */
  readonly waitsForAge?: boolean;
  /** Whether the rows of the tail are so large that a list should not read them. */
  readonly areLarge?: boolean;
  /** The sort key of the newest row that was read; undefined without any. */
  readonly newest?: string | undefined;
}

interface Maintained {
  /** The rows whose records must be redelivered: the last of all rows. */
  readonly rest: readonly RowChange[];
  /** The state of the list after its last step; undefined if there was none. */
  readonly list: ListState | undefined;
  /** The error that ended the work, unless its time was up or other commits kept coming first. */
  readonly error?: unknown;
}

/** How many rows are counted at once, in the order of the stream. Of an unfinished batch, only the rest is redelivered. */
const rowsAtOnce = 250;

/**
 * Updates the trees of a list for rows that were created, changed or deleted: first the tree of the whole list, then the
 * trees of the labels that have or had changed rows, and last the trees that new rows are fed to. It retries until the
 * deadline while other commits come first or the table is busy. A damaged tree is emptied and counted again.
 *
 * @param rows in the order of the stream
 */
export async function maintainList(
  owner: CountedOwner,
  rows: readonly RowChange[],
  maintenance: Maintenance,
): Promise<Maintained> {
  const whole = new MaintainedTree(owner, stepContext(maintenance));
  let done: Maintained = { rest: rows, list: undefined };
  try {
    do {
      const part = done.rest.slice(0, rowsAtOnce);
      const changes = part.filter(({ kind }) => kind === "changed");
      const changed = changes.map(({ key }) => key);
      whole.forget();
      const list = await whole.run<ListState>({ more: true, changed }, (state) => stepList(whole, state));
      done = { ...done, list };
      await countInLabelTrees(whole, changes);
      done = { rest: done.rest.slice(part.length), list };
    } while (done.rest.length > 0);
    // Where the tree of a label was emptied, the list is fed again.
    if (whole.context.timesEmptied.size > 0) whole.forget();
    const { areLarge = false } = done.list ?? {};
    await whole.run({ more: true }, () => feedLabelTrees(whole, areLarge));
    return done;
  } catch (error) {
    const isTimeUp = error instanceof TooExpensiveError || isTreeChanged(error);
    // At least the last record is redelivered, to continue with the tail and the feed.
    const rest = done.rest.length > 0 ? done.rest : rows.slice(-1);
    return { ...done, rest, ...(!isTimeUp && { error }) };
  }
}

/**
 * Takes one step for the tree of a whole list, with at most one commit: sets changed rows as they are in the table, and
 * counts the rows of the tail that are old enough. So changes may arrive twice, late and in any order.
 */
async function stepList(tree: MaintainedTree, { changed }: ListState): Promise<ListState> {
  const { owner, context } = tree;
  const { limits, retry } = context;
  const { watermark } = await tree.root();
  // The clock is read after the root, and before the rows.
  const horizon = keyAt(owner.list, Date.now() - limits.allowedLateness);
  const bounds = { start: watermark, maxRows: limits.rowsAtOnce };
  const { rows, units, next } = await retry(() => readRows(owner, bounds));
  const settled = rows.filter(({ sk }) => sk < horizon);
  const areLarge = units > limits.tailUnits;
  const pays = areLarge || rows.length > limits.tail;
  const waitsForAge = pays && settled.length < rows.length;
  const found = { areLarge, waitsForAge, newest: next ?? rows.at(-1)?.sk };
  if (changed.length === 0 && !(pays && settled.length > 0)) return { more: false, changed, ...found };
  const inside = changed.filter((sk) => sk < watermark);
  // The watermark does not move to the horizon: if this clock is ahead, rows before the horizon may still be created.
  const { left, added } = await setRows(tree, inside, settled);
  const isReadToHorizon = next === undefined || settled.length < rows.length;
  const more = left.length > 0 || added < settled.length || !isReadToHorizon;
  return { more, changed: left, ...found };
}

/**
 * Counts changed rows in the trees of the labels that have or had them, after the list's commit for these rows. Rows that
 * routes create are fed instead.
 */
async function countInLabelTrees(whole: MaintainedTree, changes: readonly RowChange[]): Promise<void> {
  const { fed = "", expiresAt } = await whole.root();
  // The labels of an erased account must get no trees.
  if (expiresAt !== undefined) return;
  const labelKeys = new Set(changes.flatMap(({ labelKeys }) => labelKeys));
  await inParallel([...labelKeys], async (labelKey) => {
    const changed = changes.filter((row) => row.labelKeys.includes(labelKey)).map(({ key }) => key);
    const tree = new MaintainedTree({ ...whole.owner, labelKey }, whole.context);
    await tree.run<ListState>({ more: true, changed }, (state) => stepLabelTree(tree, state, fed));
  });
}

/**
 * Takes one step of the tree of a label, with one commit: sets the changed rows that the tree must have.
 *
 * @param fed `fed` of the list, read after the list's commit for these rows
 */
export async function stepLabelTree(
  tree: MaintainedTree,
  { changed }: Pick<ListState, "changed">,
  fed: string,
): Promise<ListState> {
  const root = await tree.root();
  const { watermark } = root;
  const isPast = changed.some((sk) => sk >= watermark && sk < fed);
  // If the tree was emptied meanwhile, `fed` of the list was set back.
  const end = isPast ? latest(watermark, await readFed(tree.owner, root, tree.context.retry)) : watermark;
  const counted = changed.filter((sk) => sk < end);
  const { left } = await setRows(tree, counted, []);
  return { more: left.length > 0, changed: left };
}
