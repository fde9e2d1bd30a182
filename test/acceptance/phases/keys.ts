import { leads } from "../../contract/account.ts";
import { Client } from "../../contract/client.ts";
import { assumption, compared, type Finding } from "../finding.ts";
import type { Acceptance, Phase } from "../phase.ts";
import { ownLimit } from "./contract.ts";

/** How long after the end of its cache a revoked key may work, in seconds: the requests that ask for it. */
const margin = 5;

/** When keys begin and cease to work, and what the authorizer tells the functions. */
export const keys: Phase = {
  name: "keys",
  async *run(acceptance) {
    yield await revocation(acceptance);
    yield await contextNumbers(acceptance);
  },
};

async function revocation(acceptance: Acceptance): Promise<Finding> {
  const { url, accounts, settings, now, wait } = acceptance;
  const { apiKey, keyId } = await accounts.issueKey(accounts.other);
  const client = new Client(url, apiKey);
  const status = async () => (await client.sendOnce({ path: `${leads}?limit=1` })).status;
  // So that the gateway's cache has the key.
  await status();
  await accounts.revokeKey(accounts.other, keyId);
  const cacheSeconds = settings.authorizerCacheSeconds;
  const revokedAt = now();
  const longest = cacheSeconds + margin;
  // The gateway has several nodes: one that refuses the key says nothing about the others.
  let [seconds, accepted, last] = [0, 0, 0];
  while (seconds <= longest + margin) {
    last = await status();
    if (last === 200) accepted = seconds;
    await wait(1000);
    seconds = (now() - revokedAt) / 1000;
  }
  const expected = `works for ${cacheSeconds} s at most, then 403`;
  return compared(
    { check: "A revoked key", page: assumption("revoked-keys"), expected },
    `works for ${Math.round(accepted)} s, then ${last}`,
    accepted <= longest && last === 403,
  );
}

/** A limit of an account's own is a number in the context of the authorizer. */
async function contextNumbers({ url, accounts }: Acceptance): Promise<Finding> {
  const { limited, issueKey, setLimit } = accounts;
  await setLimit(limited, ownLimit);
  const client = new Client(url, (await issueKey(limited)).apiKey);
  const { headers } = await client.sendOnce({ path: `${leads}?limit=1` });
  return compared(
    {
      check: "A number in the authorizer's context",
      page: assumption("authorizer-context"),
      expected: `q=${ownLimit}`,
    },
    /q=\d+/.exec(String(headers["ratelimit-policy"]))?.[0] ?? "no RateLimit-Policy",
  );
}
