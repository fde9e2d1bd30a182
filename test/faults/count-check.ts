import { verify } from "../../lib/ops/counts/verify.ts";
import { sumCells } from "../../shared/pages/tree/cells.ts";
import { countedLists } from "../../shared/pages/tree/counted-list.ts";
import { limits } from "../../shared/pages/tree/tree-limits.ts";
import { readRoot } from "../../shared/pages/tree/tree-store.ts";
import { leadStatuses } from "../../shared/schemas/lead-schemas.ts";
import type { Call } from "./client.ts";
import type { ListName } from "./ledger.ts";
import type { Stored } from "./stored.ts";
import { channels, sources } from "./values.ts";

/** What is wrong with an account's counts and lists when all is quiet, in sentences. */
export async function checkCounts(call: Call, account: string, stored: Stored): Promise<string[]> {
  const { leads, conversations } = stored;
  const broken = [
    ...(await checkTree(account, "lead", leads)),
    ...(await checkTree(account, "conversation", conversations)),
  ];
  const [lead] = leads;
  const ofLeads: Filter[] = [
    {},
    ...sources.map((source): Filter => ({ source })),
    ...leadStatuses.flatMap((status): Filter[] => [{ status }, { status, source: sources[0] }]),
  ];
  for (const filter of ofLeads) broken.push(...(await checkList(call, "list-leads", account, filter, leads)));
  const ofConversations: Filter[] = [
    {},
    ...channels.map((channel) => ({ channel })),
    ...["active", "closed"].map((status) => ({ status })),
    ...(lead ? [{ leadId: lead.id }] : []),
  ];
  for (const filter of ofConversations)
    broken.push(...(await checkList(call, "list-conversations", account, filter, conversations)));
  return broken.map((fault) => `${account}: ${fault}`);
}

type Filter = Readonly<Record<string, string>>;
type Rows = readonly { readonly id: string }[];

/** Every row is counted, or in the tail. */
async function checkTree(account: string, type: keyof typeof countedLists, rows: Rows): Promise<string[]> {
  const owner = { account, list: countedLists[type] };
  const root = await readRoot(owner);
  const counted = root ? [...root.entries, root.last].map(({ cells }) => cells) : [];
  const total = [...sumCells(counted).values()].reduce((sum, count) => sum + count, 0);
  const tail = rows.filter(({ id }) => id >= (root?.watermark ?? "")).length;
  const differences = await verify(owner);
  return [
    ...differences.map((difference) => `the counts of ${type}s differ: ${JSON.stringify(difference)}`),
    ...(total + tail === rows.length ? [] : [`${total} counted ${type}s and ${tail} are not ${rows.length}`]),
    ...(total === 0 && tail > 2 * limits.tail ? [`${tail} ${type}s, and none is counted`] : []),
  ];
}

/** Walks through a list, and compares it with what is stored. */
async function checkList(
  call: Call,
  name: ListName,
  account: string,
  filter: Filter,
  stored: Rows,
): Promise<string[]> {
  const expected = stored
    .filter((row) => Object.entries(filter).every(([field, value]) => Reflect.get(row, field) === value))
    .map(({ id }) => id)
    .toSorted()
    .toReversed();
  const limit = 30;
  const found: string[] = [];
  const totals = new Set<number>();
  for (let page = 1; page === 1 || (page - 1) * limit < expected.length; page++) {
    const query = new URLSearchParams({ ...filter, page: String(page), limit: String(limit) }).toString();
    const { body } = await call(name, { account, query });
    found.push(...body.data.map(({ id }) => id));
    totals.add(body.pagination.total);
  }
  const right = found.join() === expected.join() && [...totals].join() === String(expected.length);
  return right
    ? []
    : [
        `${name} by ${JSON.stringify(filter)} gives ${found.length} rows and a total of ${[...totals].join(" or ")}, not ${expected.length}`,
      ];
}
