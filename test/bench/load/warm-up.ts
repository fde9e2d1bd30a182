import type { Account, Exchange } from "./account.ts";
import type { Connections } from "./connections.ts";
import { saturate } from "./traffic.ts";

/** Requests of each kind, so many to a connection. */
const rounds = 10;

const kinds: readonly ((account: Account) => Exchange)[] = [
  (account) => account.createLead(),
  (account) => account.sendMessage(),
  (account) => account.listLeads(),
  (account) => account.listConversations(),
];

/**
 * Gives every account leads and conversations, and every function as many environments as the load can need: requests
 * of one kind at a time, over all connections.
 *
 * @throws Error at the first wrong answer
 */
export async function warmUp(
  accounts: readonly Account[],
  connections: Connections,
  parallel: number,
): Promise<void> {
  for (const kind of kinds) {
    for (const account of accounts) {
      let left = rounds * parallel;
      const tally = await saturate({ next: () => kind(account), connections }, parallel, () => left-- > 0);
      for (const [error] of tally.errors) throw new Error(`Before the load began: ${error}`);
    }
  }
}
