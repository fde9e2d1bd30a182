import { expect, test, vi } from "vitest";
import { Client } from "../contract/client.ts";
import { accept } from "./acceptance.ts";
import type { Acceptance } from "./phase.ts";
import { ownLimit } from "./phases/contract.ts";
import { compareUnits, kinds, readUnits } from "./phases/cost.ts";
import { keys } from "./phases/keys.ts";

test.each(kinds)("the cost of $name is as assumed up to the documented units, and differs above them", ({
  name,
}) => {
  const { reads = Number.NaN, writes = Number.NaN } = readUnits().get(name) ?? {};
  const verdict = (units: object) => compareUnits(name, [{ status: 201, reads, writes, ...units }]).verdict;
  expect(verdict({})).toBe("as assumed");
  expect(verdict({ reads: reads + 0.5 })).toBe("differs");
  expect(verdict({ writes: writes + 1 })).toBe("differs");
  expect(verdict({ reads: 0, writes: 0 })).toBe("differs");
  expect(verdict({ status: 503 })).toBe("differs");
  expect(compareUnits(name, []).verdict).toBe("not seen");
});

test.each([
  ["until its cached result has expired", 7, () => 403, "as assumed: 403 7 s later"],
  ["longer, on one of two nodes", 7, (n: number) => (n % 2 ? 403 : 200), "differs: 200 and 403 7 s later"],
])("the phase keys finds how long a revoked key works: %s", async (_, seconds, statusOf, seen) => {
  let [waited, sent] = [0, 0];
  vi.spyOn(Client.prototype, "sendOnce").mockImplementation(async ({ path }) => {
    const headers = { "ratelimit-policy": `"account";q=${ownLimit};w=60` };
    const status = waited < 1000 * seconds ? 200 : statusOf(sent++);
    return { request: path, status, headers, bytes: Buffer.of(), body: {} };
  });
  const { findings } = await accept(
    {
      ...{ url: "http://127.0.0.1:1", settings: { authorizerCacheSeconds: 2 }, note: () => {} },
      ...{ signal: new AbortController().signal, cleanUp: new AsyncDisposableStack() },
      accounts: {
        ...{ issueKey: async () => ({ apiKey: "key" }), setLimit: async () => {}, revokeKey: async () => {} },
      },
      wait: async (milliseconds: number) => {
        waited += milliseconds;
      },
    } as unknown as Acceptance,
    [keys],
  );
  expect(findings.map(({ verdict, seen }) => `${verdict}: ${seen}`)).toEqual([
    seen,
    `as assumed: q=${ownLimit}`,
  ]);
});
