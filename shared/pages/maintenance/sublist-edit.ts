import type { Retry } from "../../dynamodb/retry.ts";
import { noCells } from "../tree/cells.ts";
import type { CountedRow, SublistOwner } from "../tree/counted-list.ts";
import type { Root } from "../tree/root.ts";
import { cellNumber, learnStatus } from "../tree/statuses.ts";
import type { Limits } from "../tree/tree-limits.ts";
import { TreeEdit } from "./tree-edit.ts";

/** A row to set in a sublist. */
export interface RowEdit {
  readonly sk: string;
  /** Undefined if the sublist does not have the row. */
  readonly row: CountedRow | undefined;
}

/** An edit of the tree of a sublist. */
export class SublistEdit {
  readonly #tree: TreeEdit;

  constructor(owner: SublistOwner, root: Root, means: { readonly limits: Limits; readonly retry: Retry }) {
    this.#tree = new TreeEdit(owner, root, means);
  }

  /** The most items that a commit would write, without what single nodes of rows are split into. */
  get size(): number {
    return this.#tree.size + 1;
  }

  /** Whether no row was set. */
  isEmpty = true;

  /** The most items that another row adds: a node and a split on every level. */
  get sizeOfRow(): number {
    return 2 * (this.#tree.root.level + 1);
  }

  /** Sets a row; reads the nodes on its path. */
  async set({ sk, row }: RowEdit): Promise<void> {
    this.isEmpty = false;
    const { root } = this.#tree;
    const statuses = row ? learnStatus(root.statuses, row.status) : root.statuses;
    this.#tree.root = { ...root, statuses };
    const cells = row && new Map([[cellNumber(statuses, row.status), 1]]);
    await this.#tree.setRow(sk, cells && { start: sk, cells });
  }

  async commit({ watermark, ...changes }: Partial<Root> & Pick<Root, "watermark">): Promise<void> {
    const last = { start: watermark, cells: noCells };
    this.#tree.root = { ...this.#tree.root, ...changes, watermark, last };
    await this.#tree.commit("root");
  }
}
