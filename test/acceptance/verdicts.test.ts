import { expect, test, vi } from "vitest";
import { Client } from "../contract/client.ts";
import { sum } from "../support/statistics.ts";
import { accept } from "./acceptance.ts";
import { readCosts } from "./docs-figures.ts";
import type { Acceptance } from "./phase.ts";
import { ownLimit } from "./phases/contract.ts";
import { compareUnits, families } from "./phases/cost.ts";
import { keys } from "./phases/keys.ts";

/** What a family is said to cost, one request of each kind of which consumed so many times what is documented. */
function judge(name: string, factor: number | undefined, statuses = [200]) {
  const family = families.find((each) => each.name === name);
  if (!family) throw new Error(`There is no family ${name}.`);
  const units = (unit: "reads" | "writes") =>
    sum(family.kinds.map((kind) => readCosts().get(kind.of ?? kind.name)?.[unit] ?? Number.NaN));
  const extraReads = sum(family.kinds.map(({ extraReads = 0 }) => extraReads));
  const consumed = (documented: number) => (factor === undefined ? undefined : 2 * factor * documented);
  const seen = { reads: consumed(units("reads") + extraReads), writes: consumed(units("writes")) };
  return compareUnits({ family, start: 0, took: 1, statuses: new Set(statuses) }, seen, 2);
}

test.each(
  families,
)("the cost of $name is as assumed if it is documented so, and differs or is not seen if not", ({ name }) => {
  expect(judge(name, 1).verdict).toBe("as assumed");
  expect(judge(name, 2).verdict).toBe("differs");
  expect(judge(name, 1, [201, 503])).toMatchObject({ verdict: "differs", seen: "requests returned 503" });
  expect(judge(name, undefined).verdict).toBe("not seen");
});

test("leads that cost nothing differ", () => {
  expect(judge("Leads: new, with a key, with an externalId, and changed", 0).verdict).toBe("differs");
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
