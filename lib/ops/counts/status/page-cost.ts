import { QueryCommand } from "@aws-sdk/lib-dynamodb";
import { listPartition } from "../../../../shared/dynamodb/keys.ts";
import { table, tableName } from "../../../../shared/dynamodb/table-client.ts";
import { countRows, sumCells } from "../../../../shared/pages/tree/cells.ts";
import type { CountedOwner } from "../../../../shared/pages/tree/counted-list.ts";
import { hasGroups } from "../../../../shared/pages/tree/groups.ts";
import type { Root } from "../../../../shared/pages/tree/root.ts";
import { cellNumber } from "../../../../shared/pages/tree/statuses.ts";
import { limits } from "../../../../shared/pages/tree/tree-limits.ts";
import type { Pace } from "../../common/pace.ts";

/** The rows of a page. */
const pageRows = 20;

/** About how many rows a page of a group reads for each of its own, and about how many a node of rows has. */
const rowsPerKey = 30;
const nodeRows = 100;

/** How many of the newest rows are sampled for their size. */
const sampledRows = 100;

/** The bytes of a read unit: of a consistent read of the table, and of a read of an index. */
const tableUnit = 4096;
const indexUnit = 8192;

/** The most read units of a page of a list, and what they are for. */
export interface PageCost {
  readonly units: number;
  readonly why: string;
}

/** The average size of the newest rows of a list, in bytes. */
export async function sampleRowBytes({ account, list }: CountedOwner, pace: Pace): Promise<number> {
  const query = new QueryCommand({
    TableName: tableName,
    KeyConditionExpression: "pk = :pk",
    ExpressionAttributeValues: { ":pk": listPartition(list.type, account) },
    Select: "COUNT",
    ScanIndexForward: false,
    Limit: sampledRows,
    ConsistentRead: true,
    ReturnConsumedCapacity: "TOTAL",
  });
  const { Count = 0, ConsumedCapacity } = await pace.retry(() => table.send(query));
  const units = ConsumedCapacity?.CapacityUnits ?? 0;
  await pace.spend(units);
  return Count === 0 ? 0 : (units * tableUnit) / Count;
}

/** Estimates the dearest page of the lists that a tree counts, in which lists with a refused status read all such rows. */
export function estimatePage(
  { sublist }: CountedOwner,
  root: Root | undefined,
  tail: number,
  rowBytes: number,
): PageCost {
  const inIndex = rowBytes / indexUnit;
  const perRow = sublist ? inIndex : rowBytes / tableUnit;
  if (!root) return toCost([["rows", tail, perRow]]);
  const { level, statuses } = root;
  const cells = sumCells([...root.entries, root.last].map((entry) => entry.cells));
  const refused = statuses.full ? (cells.get(cellNumber(statuses, "")) ?? 0) : 0;
  const isGrouped = sublist !== undefined && hasGroups(sublist);
  const around = isGrouped ? pageRows * rowsPerKey : level > 0 ? nodeRows + pageRows : pageRows;
  const page = Math.min(
    limits.tail + 1 + (sublist ? around : limits.largestLeaf + pageRows),
    countRows(cells),
  );
  const nodes = isGrouped ? 2 * level : sublist ? Math.max(0, level - 1) : level;
  return toCost([
    [isGrouped ? "roots" : "root", isGrouped ? 2 : 1, 1],
    ["nodes", nodes, 1],
    ["rows with a status that is not counted", refused, inIndex],
    ["rows of the tail", tail, perRow],
    ["rows around the page", page, perRow],
  ]);
}

/** The most that a page of a sublist costs that has no tree. */
export const estimateShortSublist = (rowBytes: number): PageCost =>
  toCost([["rows", limits.sublistRows, rowBytes / indexUnit]]);

/** The list whose page costs more. */
export const dearer = <T extends PageCost>(a: T, b: T): T => (b.units > a.units ? b : a);

function toCost(parts: readonly (readonly [what: string, count: number, unitsOfEach: number])[]): PageCost {
  const some = parts.filter(([, count]) => count > 0);
  return {
    units: Math.ceil(some.reduce((sum, [, count, each]) => sum + count * each, 0)),
    why: some.map(([what, count]) => `${count} ${what}`).join(", "),
  };
}
