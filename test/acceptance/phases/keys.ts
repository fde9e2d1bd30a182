import { leads } from "../../contract/account.ts";
import { Client } from "../../contract/client.ts";
import { assumption, compared, type Finding } from "../finding.ts";
import { type Acceptance, type Phase, poll } from "../phase.ts";
import { ownLimit } from "./contract.ts";

/** How long after the end of its cache a revoked key may work, in seconds: the requests that ask for it. */
const margin = 5;

/** When keys begin and cease to work, and what the authorizer tells the functions. */
export const keys: Phase = {
  name: "keys",
  minutes: 2,
  needs: "table",
  async *run(acceptance) {
    yield* revocation(acceptance);
    yield await contextNumbers(acceptance);
  },
};

async function* revocation(acceptance: Acceptance): AsyncGenerator<Finding> {
  const { url, settings, note, now } = acceptance;
  const accounts = acceptance.accounts as NonNullable<Acceptance["accounts"]>;
  const { apiKey, keyId } = await accounts.issueKey(accounts.other);
  const client = new Client(url, apiKey);
  const status = async () => (await client.sendOnce({ path: `${leads}?limit=1` })).status;
  const isNew = {
    check: "A key that was just issued",
    page: "docs/deploying.md#the-first-deployment",
    expected: "200",
  };
  yield compared(isNew, `${await status()}`);
  await accounts.revokeKey(accounts.other, keyId);
  const cacheSeconds = settings?.authorizerCacheSeconds ?? 3600;
  const revokedAt = now();
  note("waiting until a revoked key is refused");
  const seconds = await poll(acceptance, { every: 500, atMost: 1000 * (cacheSeconds + margin) }, async () =>
    (await status()) === 403 ? Math.round((now() - revokedAt) / 1000) : undefined,
  );
  const expected = `is refused after ${cacheSeconds} s at most`;
  const comparison = { check: "A revoked key", page: assumption("revoked-keys"), expected };
  yield seconds === undefined
    ? compared(comparison, `still works after ${cacheSeconds + margin} s`)
    : compared(comparison, `is refused after ${seconds} s`, true);
}

/** A limit of an account's own is a number in the context of the authorizer. */
async function contextNumbers({ url, accounts }: Acceptance): Promise<Finding> {
  const { limited, issueKey, setLimit } = accounts as NonNullable<Acceptance["accounts"]>;
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
