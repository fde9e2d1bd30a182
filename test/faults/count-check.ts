import { setTimeout } from "node:timers/promises";
import { Pace } from "../../shared/dynamodb/pace.ts";
import { idTimestamp } from "../../shared/ids.ts";
import { verify } from "../../shared/pages/audit/verify.ts";
import { countedLists } from "../../shared/pages/tree/counted-list.ts";
import { limits } from "../../shared/pages/tree/tree-limits.ts";
import { readRoot } from "../../shared/pages/tree/tree-store.ts";
import type { RouteName } from "../../shared/routes.ts";
import { leadStatuses } from "../../shared/schemas/lead-schemas.ts";
import { call } from "../support/call.ts";
import type { Stored } from "./stored.ts";

/** The sources of leads; some have none. */
export const sources = ["instagram", "website"] as const;

/** The channels of conversations. */
export const channels = ["whatsapp", "instagram", "sms"] as const;

type ListName = Extract<RouteName, `list-${string}`>;
type Filter = Readonly<Record<string, string>>;
type Rows = readonly { readonly id: string }[];

/** Checks an account's counts and lists while nothing is written. @returns the faults, in sentences */
export async function checkCounts(account: string, stored: Stored): Promise<string[]> {
  const { leads, conversations } = stored;
  const [lead] = leads;
  const lists: readonly [ListName, Rows, readonly Filter[]][] = [
    [
      "list-leads",
      leads,
      [
        {},
        ...sources.map((source): Filter => ({ source })),
        ...leadStatuses.flatMap((status): Filter[] => [{ status }, { status, source: sources[0] }]),
      ],
    ],
    [
      "list-conversations",
      conversations,
      [
        {},
        ...channels.map((channel) => ({ channel })),
        { status: "active" },
        { leadId: lead?.id ?? "lead_" },
      ],
    ],
  ];
  const violations = [
    ...(await checkTree(account, "lead", leads)),
    ...(await checkTree(account, "conversation", conversations)),
  ];
  for (const [name, rows, filters] of lists)
    for (const filter of filters) violations.push(...(await checkList(name, account, filter, rows)));
  return violations;
}

/** Checks that the trees of a list are right, and that old rows are counted. */
async function checkTree(account: string, type: keyof typeof countedLists, rows: Rows): Promise<string[]> {
  const owner = { account, list: countedLists[type] };
  const findings = await verify(owner, { pace: new Pace() });
  const times = rows.map(({ id }) => idTimestamp(id));
  // Those that were old enough to be counted when the newest row arrived.
  const settledBefore = Math.max(...times) - limits.allowedLateness;
  const settled = times.filter((time) => time < settledBefore).length;
  const isUncounted = settled > limits.tail && (await readRoot(owner)) === undefined;
  return [
    ...findings.map((finding) => `the counts of ${type}s differ: ${JSON.stringify(finding)}`),
    ...(isUncounted ? [`none of ${settled} settled ${type}s is counted`] : []),
  ];
}

/** A slow engine can make a list too slow. */
async function callUntilServed(name: ListName, account: string, query: string) {
  for (let tries = 1; ; tries++) {
    const response = await call(name, { account, query });
    if ((response.status !== 429 && response.status !== 503) || tries === 10) return response;
    await setTimeout(1000);
  }
}

/** Reads all pages of a list and compares them with the stored rows. */
async function checkList(name: ListName, account: string, filter: Filter, stored: Rows): Promise<string[]> {
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
    const { body } = await callUntilServed(name, account, query);
    listed.push(...body.data.map(({ id }) => id));
    totals.add(body.pagination.total);
  }
  const isRight = listed.join() === expected.join() && [...totals].join() === String(expected.length);
  const found = `${listed.length} rows and a total of ${[...totals].join(" or ")}, not ${expected.length}`;
  return isRight ? [] : [`${name} by ${JSON.stringify(filter)} gives ${found}`];
}
