import { expect, test, vi } from "vitest";
import { Client } from "../contract/client.ts";
import { accept } from "./acceptance.ts";
import type { Acceptance } from "./phase.ts";
import { ownLimit } from "./phases/contract.ts";
import { compareUnits, kinds, readUnits } from "./phases/cost.ts";
import { keys } from "./phases/keys.ts";

test.each(kinds)("the cost of $name is as assumed up to what is documented, and differs beyond", ({
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
  ["as long as the cache may have it", (seconds: number) => (seconds < 2 ? 200 : 403), []],
  ["by a cache", (seconds: number) => (seconds < 9 ? 200 : 403), ["works for 8 s, then 403"]],
  ["by one of two nodes", (seconds: number) => (seconds % 2 ? 403 : 200), ["works for 12 s, then 200"]],
])("the phase keys finds a revoked key that is taken too long: %s", async (_, statusAfter, seen) => {
  let [time, revokedAt, status] = [0, Number.POSITIVE_INFINITY, 200];
  vi.spyOn(Client.prototype, "sendOnce").mockImplementation(async ({ path }) => {
    const headers = { "ratelimit-policy": `"account";q=${ownLimit};w=60` };
    return { request: path, status, headers, bytes: Buffer.of(), body: {} };
  });
  const { findings } = await accept(
    {
      ...{ url: "http://127.0.0.1:1", settings: { authorizerCacheSeconds: 2 }, note: () => {} },
      ...{ signal: new AbortController().signal, cleanUp: new AsyncDisposableStack() },
      accounts: {
        ...{ issueKey: async () => ({ apiKey: "key" }), setLimit: async () => {} },
        revokeKey: async () => {
          revokedAt = time;
        },
      },
      now: () => time,
      wait: async (milliseconds: number) => {
        time += milliseconds;
        status = statusAfter((time - revokedAt) / 1000);
      },
    } as unknown as Acceptance,
    [keys],
  );
  const differing = findings.filter(({ verdict }) => verdict !== "as assumed");
  expect(differing.map(({ check, seen }) => `${check}: ${seen}`)).toEqual(
    seen.map((text) => `A revoked key: ${text}`),
  );
});
