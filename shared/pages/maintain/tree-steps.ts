import { setTimeout } from "node:timers/promises";
import { TooExpensiveError } from "../../dynamodb/dynamodb-errors.ts";
import { type Retry, withRetry } from "../../dynamodb/retry.ts";
import { isBusy } from "../../dynamodb/throttling.ts";
import type { CountedOwner } from "../tree/counted-list.ts";
import { emptyRoot, type Root } from "../tree/root.ts";
import { type Limits, limits as productionLimits } from "../tree/tree-limits.ts";
import { DamagedTreeError, isTreeChanged, readRoot, treeKey } from "../tree/tree-store.ts";
import { emptyTree } from "./empty-tree.ts";

/** The means of a maintainer besides the table. */
export interface Maintenance {
  /** When it must have ended, in milliseconds since the epoch. */
  readonly deadline: number;
  readonly limits?: Limits;
  readonly wait?: (milliseconds: number) => Promise<unknown>;
  /** Makes a call at the pace of the caller, which repeats it while the table is busy. */
  readonly paced?: Retry;
}

/** The means of a step. */
export interface Means {
  readonly limits: Limits;
  /** Repeats a call while the table is busy. */
  readonly retry: Retry;
}

/** The state of the work on a tree: a step has one, and returns the next. */
export interface TreeState {
  /**
   * The root as this maintainer has read or committed it; undefined if it has to be read. If another commit has come since,
   * the next one fails, because the version is its condition.
   */
  readonly root: Root | undefined;
  /** Whether something is left for another step. */
  readonly more: boolean;
}

/** The root of a state, or as it is in the table; an empty one if there is none. */
export const rootOf = async (owner: CountedOwner, { root }: TreeState, { retry }: Means): Promise<Root> =>
  root ?? (await retry(() => readRoot(owner))) ?? emptyRoot(Date.now());

/** How often a tree is emptied at once: if it is damaged again and again, it is not the tree that is wrong. */
const mostEmptied = 10;

/** Takes steps on the trees of a list, until a deadline. */
export class TreeSteps {
  readonly means: Means;
  readonly #maintenance: Maintenance & Required<Pick<Maintenance, "wait">>;
  /** How often each tree was emptied. */
  readonly #emptied = new Map<string, number>();

  constructor({ wait = setTimeout, limits = productionLimits, paced, deadline }: Maintenance) {
    this.#maintenance = { deadline, wait };
    const retry: Retry = (call) => withRetry(call, { deadline, isRetryable: isBusy, wait });
    this.means = { limits, retry: paced ?? retry };
  }

  /**
   * Takes steps while something is left for another. After a commit of another maintainer, a step is taken again from the
   * root in the table. A damaged tree is emptied, and then it is counted again.
   *
   * @throws TooExpensiveError when the time is up
   */
  async take<State extends TreeState>(
    first: State,
    step: (state: State, means: Means) => Promise<State>,
  ): Promise<State & { readonly root: Root }> {
    const { deadline, wait } = this.#maintenance;
    for (let state = first; ; ) {
      if (Date.now() >= deadline) throw new TooExpensiveError("too_slow", "The time of the list is up.");
      const attempt = () => this.#attempt(state, step);
      state = await withRetry(attempt, { deadline, isRetryable: isTreeChanged, wait });
      const { root } = state;
      if (root && !state.more) return { ...state, root };
    }
  }

  async #attempt<State extends TreeState>(
    state: State,
    step: (state: State, means: Means) => Promise<State>,
  ): Promise<State> {
    try {
      return await step(state, this.means);
    } catch (error) {
      if (error instanceof DamagedTreeError) await this.#empty(error);
      else if (!isTreeChanged(error) || !state.root) throw error;
      return { ...state, root: undefined };
    }
  }

  async #empty(error: DamagedTreeError): Promise<void> {
    const { pk } = treeKey(error.owner, "");
    const times = this.#emptied.get(pk) ?? 0;
    if (times === mostEmptied) throw error;
    this.#emptied.set(pk, times + 1);
    await emptyTree(error, this.means);
  }
}
