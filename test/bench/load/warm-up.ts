import type { Account, Exchange } from "./account.ts";
import type { Connections } from "./connections.ts";
import { saturate } from "./traffic.ts";

/** How many requests of each kind each connection sends. */
const rounds = 10;

const kinds: readonly ((account: Account) => Exchange)[] = [
  (account) => account.createLead(),
  (account) => account.sendMessage(),
  (account) => account.listLeads(),
  (account) => account.listConversations(),
];

/**
 * Creates leads and conversations in every account and starts as many environments of every function as the load can
 * need, by sending one kind of request at a time over all connections.
 *
 * @throws Error at the first wrong response
 */
export async function warmUp(
  accounts: readonly Account[],
  connections: Connections,
  parallel: number,
): Promise<void> {
  for (const kind of kinds) {
    for (const account of accounts) {
      let remaining = rounds * parallel;
      const tally = await saturate(
        { next: () => kind(account), connections },
        parallel,
        () => remaining-- > 0,
      );
      for (const [error] of tally.errors) throw new Error(`The warm-up failed: ${error}`);
    }
  }
}
