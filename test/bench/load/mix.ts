import { skewed } from "../../support/random.ts";
import type { Account, Exchange } from "./account.ts";

/** How many of a hundred requests are of each kind: two of three read. */
const shares: readonly (readonly [(account: Account) => Exchange, number])[] = [
  [(account) => account.listLeads(), 25],
  [(account) => account.filterLeads(), 15],
  [(account) => account.listConversations(), 15],
  [(account) => account.filterConversations(), 10],
  [(account) => account.createLead(), 15],
  [(account) => account.sendMessage(), 16],
  [(account) => account.sendAgain(), 4],
];

/** Builds a function that chooses the next request: of a random account, of each kind in proportion to its share. */
export function buildMix(accounts: readonly Account[], random: () => number): () => Exchange {
  const kind = skewed(random, shares);
  const account = skewed(
    random,
    accounts.map((account) => [account, 1] as const),
  );
  return () => kind()(account());
}
