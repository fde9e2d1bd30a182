import { encodeEntries } from "../../../shared/pages/tree/entry.ts";
import { rootBytes } from "../../../shared/pages/tree/root.ts";
import type { Limits } from "../../../shared/pages/tree/tree-limits.ts";
import type { Node } from "../../../shared/pages/tree/tree-store.ts";
import type { BuiltTree } from "./build-tree.ts";
import type { RowNodes } from "./row-nodes.ts";

/** The nodes of a level. */
export interface Level {
  readonly nodes: number;
  readonly meanEntries: number;
}

/** The size of a tree. */
export interface TreeShape {
  /** From the highest to the lowest. */
  readonly levels: readonly Level[];
  readonly rootEntries: number;
  /** About how many rows the list has when the tree needs another level. */
  readonly mostRows: number;
}

/** Describes the tree of a list with a number of rows. @param rowNodes its lowest nodes, if they have rows */
export function describeTree(
  { root, nodes }: BuiltTree,
  rows: number,
  { limits, rowNodes }: { readonly limits: Limits; readonly rowNodes?: RowNodes | undefined },
): TreeShape {
  const entryBytes = encodeEntries(root.entries).length;
  const roomForEntries = limits.rootBytes - (rootBytes(root) - entryBytes);
  return {
    levels: [
      ...describeLevels(nodes),
      ...(rowNodes ? [{ nodes: rowNodes.size, meanEntries: rows / rowNodes.size }] : []),
    ],
    rootEntries: root.entries.length,
    mostRows: (rows * roomForEntries) / entryBytes,
  };
}

const describeLevels = (nodes: readonly Node[]): readonly Level[] =>
  [...Map.groupBy(nodes, ({ level }) => level)]
    .sort(([a], [b]) => b - a)
    .map(([, some]) => ({
      nodes: some.length,
      meanEntries: some.reduce((sum, { entries }) => sum + entries.length, 0) / some.length,
    }));
