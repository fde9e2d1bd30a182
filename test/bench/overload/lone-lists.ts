import { awsRates } from "../../support/dynamodb-limits/partition-limits.ts";
import { leadId, listConversations, seedConversations } from "./conversations.ts";
import type { Product } from "./product.ts";
import { usualRateLimit } from "./rate-limits.ts";
import { startService } from "./service.ts";

/** One page of the conversations of a lead. */
interface LoneList {
  readonly page: number;
  readonly limit: number;
  readonly status: number;
  /** Attempts of table calls. */
  readonly calls: number;
  readonly readUnits: number;
  /** Whether the total and the rows are those of the table. */
  readonly exact: boolean;
}

export interface LoneListsResult {
  /** As in the URL; empty for none. */
  readonly filter: string;
  readonly lists: readonly LoneList[];
}

/** The filters besides the lead, with the positions of the conversations that match, newest first. */
export const filters = [
  { filter: "", matches: () => true },
  { filter: "status=nobody", matches: () => false },
  { filter: "channel=channel-7", matches: (n: number) => n === 7 },
  { filter: "channel=channel-7&status=nobody", matches: () => false },
] as const;

const account = "greedy";
const limits = [1, 20, 100];

/** How many conversations the lead has. */
export const conversations = 5000;

/** Long enough for every call of a list, even if it was refused before they ended, in milliseconds. */
const longestList = 60_000;

/**
 * Requests the first, the second, the last page and one past the end of a lead's conversations, with several limits, one
 * after the other. Each minute has one list, so no limit of rates refuses it.
 */
export async function runLoneLists(
  product: Product,
  { filter, matches }: (typeof filters)[number],
  seed: number,
): Promise<LoneListsResult> {
  const service = startService({ product, rates: awsRates, seed, environment: usualRateLimit }, () => {});
  const { clock } = service;
  const ids = seedConversations(service, account, conversations).filter((_, n) => matches(n));
  const lists: LoneList[] = [];
  for (const limit of limits) {
    const last = Math.max(1, Math.ceil(ids.length / limit));
    for (const page of new Set([1, 2, last, last + 1])) {
      const query = [`leadId=${leadId}`, filter, `page=${page}`, `limit=${limit}`].filter(Boolean).join("&");
      const listing = listConversations(service, account, query);
      await clock.runUntil(clock.now + longestList);
      const { status, page: found, served } = await listing;
      const rows = ids.slice((page - 1) * limit, page * limit);
      const exact =
        found?.pagination.total === ids.length && rows.join() === found.data.map(({ id }) => id).join();
      lists.push({ ...{ page, limit, status, exact }, ...served });
    }
  }
  return { filter, lists };
}
