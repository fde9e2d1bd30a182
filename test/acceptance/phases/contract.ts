import { Account } from "../../contract/account.ts";
import { type Context, runCheck } from "../../contract/check.ts";
import { checks } from "../../contract/checks.ts";
import { Client } from "../../contract/client.ts";
import { compared, notSeen } from "../finding.ts";
import type { Acceptance, Phase } from "../phase.ts";

/** How many requests the account with its own limit may make in a window. */
export const ownLimit = 20;

/** Everything that the documentation promises to callers. */
export const contract: Phase = {
  name: "contract",
  async *run(acceptance) {
    const context = await prepare(acceptance);
    for (const check of checks) {
      acceptance.signal.throwIfAborted();
      const { outcome, promise, page, reason = "" } = await runCheck(check, context);
      // A check that Ctrl-C has aborted has not failed.
      acceptance.signal.throwIfAborted();
      const comparison = { check: promise, page, expected: "kept" };
      yield outcome === "skipped"
        ? notSeen(comparison, reason)
        : compared(comparison, outcome === "ok" ? "kept" : reason);
    }
  },
};

async function prepare({ url, key, mine, accounts, signal }: Acceptance): Promise<Context> {
  const open = async (account: string, access?: "read" | "create") =>
    new Account(url, (await accounts.issueKey(account, access)).apiKey, signal);
  const limited = await open(accounts.limited);
  await accounts.setLimit(accounts.limited, ownLimit);
  return {
    ...{ mine, key, anonymous: new Client(url, undefined, signal), shared: new Map() },
    other: await open(accounts.other),
    readOnly: await open(accounts.mine, "read"),
    creating: await open(accounts.mine, "create"),
    limited,
  };
}
