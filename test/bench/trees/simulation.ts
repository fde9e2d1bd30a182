import { nodeName } from "../../../shared/dynamodb/keys.ts";
import type { Item, Key } from "../../../shared/dynamodb/table-client.ts";
import { filteredRange } from "../../../shared/pages/counted-range.ts";
import { noCells } from "../../../shared/pages/tree/cells.ts";
import { type CountedOwner, countedLists } from "../../../shared/pages/tree/counted-list.ts";
import { encodeEntries } from "../../../shared/pages/tree/entry.ts";
import { type Root, rootItem } from "../../../shared/pages/tree/root.ts";
import type { Statuses } from "../../../shared/pages/tree/statuses.ts";
import { type Limits, limits as productionLimits } from "../../../shared/pages/tree/tree-limits.ts";
import { type Node, treeKey } from "../../../shared/pages/tree/tree-store.ts";
import { itemSize } from "../pages/item-size.ts";
import { type BuiltTree, buildTree, buildWholeTree } from "./build-tree.ts";
import { ListRows, type SimulatedList } from "./list-rows.ts";
import { RowNodes } from "./row-nodes.ts";
import { type Arrivals, type Mix, SyntheticRows } from "./rows.ts";
import { SimulatedTable } from "./simulated-table.ts";
import { describeTree, type TreeShape } from "./tree-shape.ts";

/** A list to simulate. */
export interface Plan {
  /** The tree of all rows, whose leaves count 96 rows, or that of a source, whose lowest entries are its rows. */
  readonly kind: "whole list" | "source";
  readonly rows: number;
  readonly arrivals: Arrivals;
  readonly mix: Mix;
  readonly statuses: Statuses;
  readonly limits?: Limits | undefined;
}

/** A list with its tree, and the table that has both. */
export interface Simulation {
  readonly list: SimulatedList;
  readonly rows: ListRows;
  readonly table: SimulatedTable;
  readonly shape: TreeShape;
  /** In bytes, as DynamoDB counts an item. */
  readonly rootBytes: number;
  readonly largestNodeBytes: number;
}

/** As long as the random names of accounts. */
const account = "account-of-a-very-long-list-00000000";

const source = "website";

/** Builds the tree of a list, in a table that has the list. */
export async function simulate(plan: Plan): Promise<Simulation> {
  const { kind, statuses } = plan;
  const limits = limitsOf(plan);
  const list = { account, statuses, source: kind === "source" ? source : undefined };
  const { tree: owner } = filteredRange(account, countedLists.lead, { sourceOrChannel: list.source });
  const synthetic = new SyntheticRows(plan.rows, plan);
  const { rowNodeBytes: nodeBytes, keptRowBytes: keptBytes } = limits;
  const ofRows = { ...limits, nodeBytes, keptBytes };
  const rowNodes = kind === "source" ? new RowNodes(synthetic, ofRows) : undefined;
  const building = { statuses, limits };
  const tree = rowNodes ? await buildAbove(rowNodes, building) : await buildWholeTree(synthetic, building);
  const rows = new ListRows(synthetic, list);
  const lowest = nodeName(tree.root.generation, 1, "");
  const table = new SimulatedTable(rows, ({ sk }: Key) => {
    const node = sk.startsWith(lowest) ? rowNodes?.find(sk.slice(lowest.length)) : undefined;
    return node && nodeItem(owner, tree.root, node);
  });
  const rootOfTree: Item = { ...treeKey(owner, "root"), ...rootItem(tree.root) };
  const nodes = tree.nodes.map((node) => nodeItem(owner, tree.root, node));
  for (const item of [rootOfTree, ...nodes]) table.put(item);
  const sampled = rowNodes?.sample(sampledNodes).map((node) => nodeItem(owner, tree.root, node)) ?? [];
  return {
    ...{ list, rows, table },
    shape: describeTree(tree, plan.rows, { limits, rowNodes }),
    rootBytes: itemSize(rootOfTree),
    largestNodeBytes: Math.max(0, ...[...nodes, ...sampled].map(itemSize)),
  };
}

/** The limits of a plan: the root of a source's tree may be larger. */
function limitsOf({ kind, limits = productionLimits }: Plan): Limits {
  return kind === "source" ? { ...limits, rootBytes: limits.sublistRootBytes } : limits;
}

/** How many nodes of rows are encoded to find the largest. */
const sampledNodes = 500;

/** Builds the tree above nodes of rows, as one over leaves, which is then one level higher. */
async function buildAbove(rowNodes: RowNodes, building: Parameters<typeof buildTree>[2]): Promise<BuiltTree> {
  const { root, nodes } = await buildTree(rowNodes.sums(), { start: "", cells: noCells }, building);
  return {
    root: { ...root, level: root.level + 1, last: { start: root.watermark, cells: noCells } },
    nodes: nodes.map((node) => ({ ...node, level: node.level + 1 })),
  };
}

const nodeItem = (owner: CountedOwner, { generation }: Root, { level, start, entries }: Node): Item => ({
  ...treeKey(owner, nodeName(generation, level, start)),
  entries: encodeEntries(entries),
});
