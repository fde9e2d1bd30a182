import { setTimeout } from "node:timers/promises";
import { isBusy, TooExpensiveError } from "../../dynamodb/dynamodb-errors.ts";
import { type Retry, withRetry } from "../../dynamodb/retry.ts";
import type { CountedOwner } from "../tree/counted-list.ts";
import { emptied, emptyRoot, type Root } from "../tree/root.ts";
import { type Limits, limits as productionLimits } from "../tree/tree-limits.ts";
import {
  commit,
  DamagedTreeError,
  isTreeChanged,
  logDamage,
  type Node,
  readRoot,
  replaceDamaged,
  TreeChangedError,
  treeKey,
} from "../tree/tree-store.ts";

/** What a maintainer needs besides the table. */
export interface Maintenance {
  /** When it must have ended, in milliseconds since the epoch. */
  readonly deadline: number;
  readonly limits?: Limits;
  readonly wait?: (milliseconds: number) => Promise<unknown>;
  /** Makes a call, at the caller's pace if it has one, with retries while the table is busy. */
  readonly retry?: Retry;
}

/** What the steps of all trees of a list share. */
export function stepContext({
  deadline,
  limits = productionLimits,
  wait = setTimeout,
  retry = (call) => withRetry(call, { deadline, isRetryable: isBusy, wait }),
}: Maintenance) {
  /** How often each tree was emptied. */
  const timesEmptied = new Map<string, number>();
  return { deadline, limits, wait, retry, timesEmptied };
}

type StepContext = ReturnType<typeof stepContext>;

/** How often a tree is emptied at once: if it is damaged again and again, something else than the tree is wrong. */
const mostEmptied = 10;

/** A tree that is maintained in steps, each with one commit at most. */
export class MaintainedTree {
  readonly owner: CountedOwner;
  readonly context: StepContext;
  #root: Root | undefined;

  constructor(owner: CountedOwner, context: StepContext) {
    this.owner = owner;
    this.context = context;
  }

  /**
   * The root as this maintainer has read or committed it, an empty one if there is none. If another maintainer has committed
   * since then, the next commit fails, because the version is its condition.
   */
  async root(): Promise<Root> {
    this.#root ??= (await this.context.retry(() => readRoot(this.owner))) ?? emptyRoot(Date.now());
    return this.#root;
  }

  forget(): void {
    this.#root = undefined;
  }

  async commit(root: Root, nodes?: readonly Node[]): Promise<void> {
    this.#root = await this.context.retry(() => commit(this.owner, root, nodes));
  }

  /**
   * Takes steps until nothing is left. If another maintainer commits first, the step throws TreeChangedError, and is taken
   * again from the root in the table. If it throws DamagedTreeError, that tree is emptied, and then counted again.
   *
   * @throws TooExpensiveError when the time is up
   */
  async run<State extends { readonly more: boolean }>(first: State, step: (state: State) => Promise<State>) {
    const { deadline, wait } = this.context;
    let state = first;
    const attempt = () => step(state).catch((error: unknown) => this.#recover(error, state));
    do {
      if (Date.now() >= deadline) throw new TooExpensiveError("too_slow", "The time of the list is up.");
      state = await withRetry(attempt, { deadline, isRetryable: isTreeChanged, wait });
    } while (state.more);
    return state;
  }

  /** Prepares another attempt of a step. @throws the error, unless a tree was damaged */
  async #recover<State>(error: unknown, state: State): Promise<State> {
    this.forget();
    if (!(error instanceof DamagedTreeError)) throw error;
    const { pk } = treeKey(error.owner, "");
    const { timesEmptied } = this.context;
    const times = timesEmptied.get(pk) ?? 0;
    if (times === mostEmptied) throw error;
    timesEmptied.set(pk, times + 1);
    await emptyTree(error, this.context);
    return state;
  }
}

/**
 * Replaces a damaged tree by an empty one, which is then counted again. Lists stay exact meanwhile: to them, all rows are
 * the tail. If the tree is of a label, `fed` of its list is also set back, so that the list is fed again from its first row.
 * A feed that is under way fails, because it commits the root of the list after this commit.
 *
 * @throws TreeChangedError when another commit came first, or when the root of the list is also invalid: the list's tree is
 *   then emptied instead
 */
export async function emptyTree(error: DamagedTreeError, { retry }: { retry: Retry }): Promise<void> {
  const { owner, root } = error;
  const { account, list, labelKey } = owner;
  const emptyList = async (ofList: unknown) => {
    if (!(ofList instanceof DamagedTreeError)) throw ofList;
    await emptyTree(ofList, { retry });
    throw new TreeChangedError("The tree of the list was emptied first.");
  };
  logDamage(error);
  const clock = Date.now();
  const empty = root ? emptied(root, clock) : emptyRoot(clock);
  if (labelKey === undefined) {
    await retry(() => replaceDamaged(error, empty));
    return;
  }
  const whole = (await retry(() => readRoot({ account, list })).catch(emptyList)) ?? emptyRoot(clock);
  await retry(() => replaceDamaged(error, empty, { ...whole, fed: undefined }));
}
