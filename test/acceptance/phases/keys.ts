import { leads } from "../../contract/account.ts";
import { Client } from "../../contract/client.ts";
import { assumption, compared, type Finding } from "../finding.ts";
import type { Acceptance, Phase } from "../phase.ts";
import { ownLimit } from "./contract.ts";

/** How long after the end of its cache a revoked key may work, in seconds. */
const margin = 5;

/** How many requests ask then whether it works. */
const asked = 20;

/** When keys begin and cease to work, and what the authorizer tells the functions. */
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
  // So that the gateway's cache has the key.
  await status();
  await accounts.revokeKey(accounts.other, keyId);
  const seconds = settings.authorizerCacheSeconds + margin;
  await wait(1000 * seconds);
  // The gateway has several nodes: one that refuses the key says nothing about the others.
  const statuses = new Set<number>();
  for (let n = 0; n < asked; n++) statuses.add(await status());
  const after = `${seconds} s later`;
  return compared(
    { check: "A revoked key", page: assumption("revoked-keys"), expected: `403 ${after}` },
    `${[...statuses].join(" and ")} ${after}`,
  );
}

/** A limit of an account's own is a number in the context of the authorizer. */
async function contextNumbers({ url, accounts }: Acceptance): Promise<Finding> {
  const { limited, issueKey, setLimit } = accounts;
  const client = new Client(url, (await issueKey(limited)).apiKey);
  await setLimit(limited, ownLimit);
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
