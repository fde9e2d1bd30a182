import type { Retry } from "../../dynamodb/retry.ts";
import { noCells } from "../tree/cells.ts";
import type { CountedRow, Filter, SublistOwner } from "../tree/counted-list.ts";
import { hasGroups, rowGroups } from "../tree/groups.ts";
import { emptyRoot, type Root } from "../tree/root.ts";
import { cellNumber, learnStatus } from "../tree/statuses.ts";
import type { Limits } from "../tree/tree-limits.ts";
import { readRoot } from "../tree/tree-store.ts";
import { TreeEdit } from "./tree-edit.ts";

/** A row to set in a sublist. */
export interface RowEdit {
  readonly sk: string;
  /** Undefined if the sublist does not have the row. */
  readonly row: CountedRow | undefined;
  /** The filters by which a lead's conversation may be in a group: those of its row, and earlier ones. */
  readonly filters: readonly Filter[];
}

/** An edit of the tree of a sublist, with the groups of a lead. One commit changes them all. */
export class SublistEdit {
  readonly #owner: SublistOwner;
  readonly #tree: TreeEdit;
  readonly #means: { readonly limits: Limits; readonly retry: Retry };
  readonly #groups = new Map<string, TreeEdit>();

  constructor(owner: SublistOwner, root: Root, means: { readonly limits: Limits; readonly retry: Retry }) {
    this.#owner = owner;
    this.#means = means;
    this.#tree = new TreeEdit(owner, root, means);
  }

  /** The most items that a commit would write, without what single nodes of rows are split into. */
  get size(): number {
    return [...this.#groups.values()].reduce((sum, group) => sum + group.size + 1, this.#tree.size + 1);
  }

  /** Whether no row was set. */
  isEmpty = true;

  /** The most items that another row adds: in each tree that it leaves or joins, a node and a split on every level. */
  get sizeOfRow(): number {
    const trees = hasGroups(this.#owner.sublist) ? 7 : 1;
    return trees * 2 * (this.#tree.root.level + 1);
  }

  /** Sets a row; reads the nodes on its paths. */
  async set({ sk, row, filters }: RowEdit): Promise<void> {
    this.isEmpty = false;
    const { root } = this.#tree;
    const statuses = row ? learnStatus(root.statuses, row.status) : root.statuses;
    this.#tree.root = { ...root, statuses };
    const counted = (cell: number) => ({ start: sk, cells: new Map([[cell, 1]]) });
    await this.#tree.setRow(sk, row && counted(cellNumber(statuses, row.status)));
    if (!hasGroups(this.#owner.sublist)) return;
    const groups = new Set(row ? rowGroups(row) : []);
    const names = new Set([...groups, ...filters.flatMap(rowGroups)]);
    // The name of a group has its status: all of its rows are in one cell.
    const setInGroup = async (name: string) =>
      (await this.#group(name)).setRow(sk, groups.has(name) ? counted(0) : undefined);
    await Promise.all(Array.from(names, setInGroup));
  }

  async commit({ watermark, ...changes }: Partial<Root> & Pick<Root, "watermark">): Promise<void> {
    const last = { start: watermark, cells: noCells };
    this.#tree.root = { ...this.#tree.root, ...changes, watermark, last };
    const groups = [...this.#groups.values()];
    for (const group of groups) group.root = { ...group.root, watermark, last };
    await this.#tree.commit(
      "root",
      groups.flatMap((group) => group.writes()),
    );
  }

  async #group(name: string): Promise<TreeEdit> {
    const known = this.#groups.get(name);
    if (known) return known;
    const owner = { ...this.#owner, group: name };
    const { generation } = this.#tree.root;
    const found = await this.#means.retry(() => readRoot(owner));
    // A group of another generation belongs to a tree that was replaced.
    const root = found?.generation === generation ? found : emptyRoot(generation);
    const group = new TreeEdit(owner, root, this.#means);
    this.#groups.set(name, group);
    return group;
  }
}
