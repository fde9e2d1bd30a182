import { QueryCommand } from "@aws-sdk/lib-dynamodb";
import { TooExpensiveError } from "../../dynamodb/dynamodb-errors.ts";
import { activityIndex, listPartition } from "../../dynamodb/keys.ts";
import { type Item, table, tableName } from "../../dynamodb/table-client.ts";
import { ApiError } from "../../errors.ts";
import { maxLimit } from "../../schemas/page-schemas.ts";
import { maxByActivity, type Page, type RowsRequest } from "../page.ts";
import {
  completeRows,
  type FindRows,
  findByIds,
  type ListRequest,
  selectRows,
  takePage,
  toConditions,
  toPage,
} from "./list-page.ts";
import type { Found } from "./plain-page.ts";
import { hasAttributes, isRow, rangeId } from "./range.ts";
import { type AdmitLongList, type Call, withinBudget } from "./read-budget.ts";
import { isWithin, latestTime, type Window } from "./window.ts";

/** Which conversations are asked for, and in which order. */
interface ActivityRequest extends ListRequest {
  /** The times between which their last message was sent, as they are stored. */
  readonly active: Window;
  /** Whether they are sorted by their last message. */
  readonly byActivity: boolean;
}

const all: RowsRequest = { page: 1, limit: Number.MAX_SAFE_INTEGER };

/**
 * A page of the selected conversations by their last message, or of those whose last message was sent in a time, and their
 * exact number. Rows move while they are read, because each message makes its conversation the newest one: the index and
 * the trees, which count, may differ by them.
 *
 * @param toRecord throws MalformedItemError
 * @throws ApiError `invalid_input` when too many rows would have to be read
 * @throws TooExpensiveError when it would take too much time
 */
export async function activityPage<T>(
  asked: ActivityRequest,
  request: RowsRequest,
  toRecord: (item: Item) => T,
  admitLongList: AdmitLongList,
): Promise<Page<T>> {
  const { ids, parent } = asked;
  const { range, find } = selectRows(asked);
  const isActive = ({ lastMessageAt }: Item) => isWithin(asked.active)(String(lastMessageAt));
  const toSorted = (items: readonly Item[]) =>
    takePage(items.filter(isActive), asked.byActivity ? "lastMessageAt" : "sk", request);
  if (ids) return toPage(toSorted(await findByIds(asked, ids)), request, toRecord);
  const found = await (parent === undefined
    ? // An inbox does not back off because of what costs more.
      withinBudget(`${activityIndex.name} ${asked.account} ${isPart(asked)}`, admitLongList, (call) =>
        findByActivity(asked, find, request, toSorted, call),
      )
    : // What is too long for this order may be short enough for the other.
      withinBudget(`${rangeId(range)} ${activityIndex.name}`, admitLongList, async (call) => {
        const { items } = await find(all, call);
        return toSorted(await completeRows(asked, items, call));
      }));
  return toPage(found, request, toRecord);
}

async function findByActivity(
  asked: ActivityRequest,
  find: FindRows,
  request: RowsRequest,
  toSorted: (items: readonly Item[]) => Found,
  call: Call,
): Promise<Found> {
  if (isDefined(asked.active)) return toSorted(await readActive(asked, all, all.limit, call));
  const { page, limit } = request;
  const counting = find({ page: 1, limit: 1 }, call).then(({ total }) => total);
  if (isPart(asked) && (await counting) <= maxLimit) {
    // Among many others they could be anywhere.
    const { items, total } = await find({ page: 1, limit: maxLimit }, call);
    if (total <= maxLimit) return { ...toSorted(await completeRows(asked, items, call)), total };
  }
  const [total, items] = await Promise.all([counting, readActive(asked, request, counting, call)]);
  return { items: items.slice((page - 1) * limit, page * limit), total };
}

const isDefined = (part: object) => Object.values(part).some((value) => value !== undefined);

const isPart = ({ filter, window, active }: ActivityRequest) => [filter, window, active].some(isDefined);

/** The stored form of the earliest time. */
const earliestTime = "0000-01-01T00:00:00.000Z";

/** The least rows that another call reads: a few calls must reach the end of any account that they may read. */
const leastRows = 100;

/** Reads the selected conversations from the index by activity, up to the end of a page or of them all. Others are read and dropped. */
async function readActive(
  asked: ActivityRequest,
  { page, limit, ascending = false }: RowsRequest,
  total: number | Promise<number>,
  call: Call,
): Promise<readonly Item[]> {
  const { account, list, window, active } = asked;
  const { from = earliestTime, before = latestTime } = active;
  if (from >= before) return [];
  const partition = listPartition(list.type, account);
  const range = { list, partition, rows: { pk: partition } };
  const hasFilters = hasAttributes(toConditions(asked));
  const isSelected = (item: Item) =>
    isRow(range, item) && isWithin(window)(String(item.sk)) && hasFilters(item);
  const end = page * limit;
  let wanted = end;
  // By sort key: a row that moves while it is read can be met twice, and stays in its first place.
  const rows = new Map<unknown, Item>();
  let [calls, read] = [0, 0];
  let position: Item | undefined;
  do {
    // As many as have the missing rows among them, if rows are selected as often as up to now; more with each call.
    const expected = Math.ceil(((wanted - rows.size) * (read + 1)) / (rows.size + 1));
    const mostRows = calls === 0 ? wanted : Math.max(leastRows, expected * 2 ** calls);
    const command = new QueryCommand({
      TableName: tableName,
      IndexName: activityIndex.name,
      KeyConditionExpression: `pk = :pk AND ${activityIndex.sortKey} BETWEEN :from AND :before`,
      ExpressionAttributeValues: { ":pk": partition, ":from": from, ":before": before },
      ScanIndexForward: ascending,
      Limit: mostRows <= maxByActivity ? mostRows : undefined,
      ExclusiveStartKey: position,
    });
    const found = await call((options) => table.send(command, options), read > maxByActivity).catch(
      refuse(active),
    );
    const items = found.Items ?? [];
    for (const item of items.filter(isSelected)) if (!rows.has(item.sk)) rows.set(item.sk, item);
    calls++;
    read += items.length;
    position = found.LastEvaluatedKey;
    wanted = Math.min(wanted, await total);
  } while (position && rows.size < wanted);
  // A late index has rows that are not in the total any more: they do not take the places of others.
  return [...rows.values()].slice(0, end);
}

/** Refuses what another attempt could not read in fewer calls. */
const refuse = (active: Window) => (error: unknown) => {
  if (!(error instanceof TooExpensiveError) || error.code !== "too_many_calls") throw error;
  const [field, way] = isDefined(active)
    ? ["lastMessageAfter", "must be later, or lastMessageBefore earlier"]
    : ["sort", "must be by createdAt with these filters"];
  const message = `${way}: too many conversations would be read`;
  throw new ApiError("invalid_input", `The request is invalid: ${field} ${message}.`, {
    faults: [{ in: "query", field, code: "out_of_range", message }],
    cause: error,
  });
};
