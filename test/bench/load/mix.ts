import { skewed } from "../pages/random.ts";
import type { Account, Exchange } from "./account.ts";

/** Of a hundred requests, how many are of each kind: two of three read. */
const shares: readonly (readonly [(account: Account) => Exchange, number])[] = [
  [(account) => account.listLeads(), 25],
  [(account) => account.filterLeads(), 15],
  [(account) => account.listConversations(), 15],
  [(account) => account.filterConversations(), 10],
  [(account) => account.createLead(), 15],
  [(account) => account.sendMessage(), 16],
  [(account) => account.sendAgain(), 4],
];

/** Makes what chooses the next request: any account's, of any kind, as often as the shares say. */
export function mixOf(accounts: readonly Account[], random: () => number): () => Exchange {
  const kind = skewed(random, shares);
  const account = skewed(
    random,
    accounts.map((account) => [account, 1] as const),
  );
  return () => kind()(account());
}
