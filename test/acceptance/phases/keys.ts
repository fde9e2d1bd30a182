import { leads } from "../../contract/account.ts";
import { Client } from "../../contract/client.ts";
import { assumption, compared, type Finding } from "../finding.ts";
import type { Acceptance, Phase } from "../phase.ts";
import { ownLimit } from "./contract.ts";

/** How long a revoked key may work after its cached result has expired, in seconds. */
const margin = 5;

/** How many requests then check whether the revoked key works. */
const asked = 20;

/** Checks when a revoked key stops working, and what the authorizer passes to the functions. */
export const keys: Phase = {
  name: "keys",
  async *run(acceptance) {
    yield await revocation(acceptance);
    yield await contextNumbers(acceptance);
  },
};

async function revocation(acceptance: Acceptance): Promise<Finding> {
  const { url, accounts, settings, wait } = acceptance;
  const { apiKey, keyId } = await accounts.issueKey(accounts.other);
  const client = new Client(url, apiKey);
  const status = async () => (await client.sendOnce({ path: `${leads}?limit=1` })).status;
  // This request puts the key into the gateway's cache.
  await status();
  await accounts.revokeKey(accounts.other, keyId);
  const seconds = settings.authorizerCacheSeconds + margin;
  await wait(1000 * seconds);
  // The gateway has several nodes: if one of them refuses the key, others may still accept it.
  const statuses = new Set<number>();
  for (let n = 0; n < asked; n++) statuses.add(await status());
  const after = `${seconds} s later`;
  return compared(
    assumption("revoked-keys", "A revoked key", `403 ${after}`),
    `${[...statuses].join(" and ")} ${after}`,
  );
}

/** Checks a number in the context of the authorizer: an account's own limit. */
async function contextNumbers({ url, accounts }: Acceptance): Promise<Finding> {
  const { limited, issueKey, setLimit } = accounts;
  const client = new Client(url, (await issueKey(limited)).apiKey);
  await setLimit(limited, ownLimit);
  const { headers } = await client.sendOnce({ path: `${leads}?limit=1` });
  return compared(
    assumption("authorizer-context", "A number in the authorizer's context", `q=${ownLimit}`),
    /q=\d+/.exec(String(headers["ratelimit-policy"]))?.[0] ?? "no RateLimit-Policy",
  );
}
