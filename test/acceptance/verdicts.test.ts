import { expect, test, vi } from "vitest";
import { Client } from "../contract/client.ts";
import { accept } from "./acceptance.ts";
import { readCosts } from "./docs-figures.ts";
import type { Acceptance } from "./phase.ts";
import { ownLimit } from "./phases/contract.ts";
import { compareUnits, kinds } from "./phases/cost.ts";
import { keys } from "./phases/keys.ts";

/** What a kind of request is said to cost whose two requests in a minute consumed so many times what is documented. */
function judge(name: string, factor: number | undefined, statuses = [200]) {
  const kind = kinds.find((each) => each.name === name);
  if (!kind) throw new Error(`There is no kind ${name}.`);
  const { reads, writes } = readCosts().get(kind.of ?? name) ?? { reads: Number.NaN, writes: Number.NaN };
  const unused = { reads: 7, writes: 7 };
  const consumed = (units: number) => (factor === undefined ? undefined : 7 + 2 * factor * units);
  const seen = { reads: consumed(reads + (kind.extraReads ?? 0)), writes: consumed(writes) };
  return compareUnits({ kind, start: 0, took: 1, statuses: new Set(statuses) }, seen, unused, 2);
}

test.each(
  kinds.filter(({ send }) => send),
)("the cost of $name is as assumed if it is documented so, and differs or is not seen if not", ({ name }) => {
  expect(judge(name, 1).verdict).toBe("as assumed");
  expect(judge(name, 2).verdict).toBe("differs");
  expect(judge(name, 1, [201, 503])).toMatchObject({ verdict: "differs", seen: "requests returned 503" });
  expect(judge(name, undefined).verdict).toBe("not seen");
});

test("a lead that costs nothing differs", () => {
  expect(judge("A lead with an email address and a source", 0).verdict).toBe("differs");
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
