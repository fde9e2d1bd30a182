import { setTimeout } from "node:timers/promises";
import { countedRows } from "../../lib/ops/counts/list-reading.ts";
import { Pace } from "../../shared/dynamodb/pace.ts";
import { idTimestamp } from "../../shared/ids.ts";
import { verify } from "../../shared/pages/audit/verify.ts";
import { countedLists } from "../../shared/pages/tree/counted-list.ts";
import { limits } from "../../shared/pages/tree/tree-limits.ts";
import { readRoot } from "../../shared/pages/tree/tree-store.ts";
import { leadStatuses } from "../../shared/schemas/lead-schemas.ts";
import type { Call } from "./client.ts";
import type { ListName } from "./ledger.ts";
import type { Stored } from "./stored.ts";
import { channels, sources } from "./values.ts";

/** Checks an account's counts and lists while nothing is written. @returns the faults, in sentences */
export async function checkCounts(call: Call, account: string, stored: Stored): Promise<string[]> {
  const { leads, conversations } = stored;
  const violations = [
    ...(await checkTree(account, "lead", leads)),
    ...(await checkTree(account, "conversation", conversations)),
  ];
  const [lead] = leads;
  const leadFilters: Filter[] = [
    {},
    ...sources.map((source): Filter => ({ source })),
    ...leadStatuses.flatMap((status): Filter[] => [{ status }, { status, source: sources[0] }]),
  ];
  for (const filter of leadFilters)
    violations.push(...(await checkList(call, "list-leads", account, filter, leads)));
  const conversationFilters: Filter[] = [
    {},
    ...channels.map((channel) => ({ channel })),
    ...["active", "closed"].map((status) => ({ status })),
    ...(lead ? [{ leadId: lead.id }] : []),
  ];
  for (const filter of conversationFilters)
    violations.push(...(await checkList(call, "list-conversations", account, filter, conversations)));
  return violations.map((fault) => `${account}: ${fault}`);
}

type Filter = Readonly<Record<string, string>>;
type Rows = readonly { readonly id: string }[];

/** Checks that every row is counted or in the tail. */
async function checkTree(account: string, type: keyof typeof countedLists, rows: Rows): Promise<string[]> {
  const owner = { account, list: countedLists[type] };
  const root = await readRoot(owner);
  const total = root ? countedRows(root) : 0;
  const tail = rows.filter(({ id }) => id >= (root?.watermark ?? "")).length;
  const times = rows.map(({ id }) => idTimestamp(id));
  // Those that were old enough to be counted when the newest row arrived.
  const settledBefore = Math.max(...times) - limits.allowedLateness;
  const settled = times.filter((time) => time < settledBefore).length;
  const findings = await verify(owner, { pace: new Pace() });
  return [
    ...findings.map((finding) => `the counts of ${type}s differ: ${JSON.stringify(finding)}`),
    ...(total + tail === rows.length
      ? []
      : [`${total} counted ${type}s and ${tail} in the tail are not ${rows.length}`]),
    ...(total === 0 && settled > limits.tail ? [`none of ${settled} settled ${type}s is counted`] : []),
  ];
}

/** A slow engine can make a list too slow. */
async function callUntilServed<T extends { readonly status: number | undefined }>(
  request: () => Promise<T>,
): Promise<T> {
  for (let tries = 1; ; tries++) {
    const response = await request();
    if ((response.status !== 429 && response.status !== 503) || tries === 10) return response;
    await setTimeout(1000);
  }
}

/** Reads all pages of a list and compares them with the stored rows. */
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
  const listed: string[] = [];
  const totals = new Set<number>();
  for (let page = 1; page === 1 || (page - 1) * limit < expected.length; page++) {
    const query = new URLSearchParams({ ...filter, page: String(page), limit: String(limit) }).toString();
    const { body } = await callUntilServed(() => call(name, { account, query }));
    listed.push(...body.data.map(({ id }) => id));
    totals.add(body.pagination.total);
  }
  const matches = listed.join() === expected.join() && [...totals].join() === String(expected.length);
  return matches
    ? []
    : [
        `${name} by ${JSON.stringify(filter)} gives ${listed.length} rows and a total of ${[...totals].join(" or ")}, not ${expected.length}`,
      ];
}
