import { expect, test, vi } from "vitest";
import { rateLimiter } from "../../../shared/rate-limit/rate-limiter.ts";
import { VirtualTable } from "../../support/tables/virtual-table.ts";

const start = Date.UTC(2026, 0, 1);

interface Plan {
  readonly limit: number;
  readonly environments: number;
  /** For how long after the start the table does not respond to an environment, in milliseconds. */
  readonly slow: number;
}

/** Sends 150 requests to environments that have just started, in virtual time. @returns how many were granted */
async function burst({ limit, environments, slow }: Plan): Promise<number> {
  new VirtualTable(start, () => Math.max(5, start + slow - Date.now()));
  let [granted, waiting] = [0, 150];
  // An environment serves one request at a time.
  const serve = async () => {
    const take = rateLimiter({ requests: limit, seconds: 60 });
    while (waiting-- > 0) if ((await take("acme")).granted) granted++;
  };
  const served = Promise.all(Array.from({ length: environments }, serve));
  await vi.advanceTimersByTimeAsync(59_000);
  await served;
  return granted;
}

test.each([
  // A lease that arrives after the first wait counts.
  { limit: 25, environments: 20, slow: 700, most: 25 },
  // Each environment lets one request pass, and pays for it with the leases that arrive later.
  { limit: 25, environments: 20, slow: 1500, most: 25 },
  { limit: 10, environments: 150, slow: 700, most: 10 },
  // At most one request for each environment.
  { limit: 10, environments: 20, slow: 1500, most: 20 },
])("$environments environments without a response for $slow ms grant at most $most requests, with a limit of $limit", async ({
  most,
  ...plan
}) => {
  const granted = await burst(plan);
  expect(granted).toBeLessThanOrEqual(most);
  // No permit is lost because its lease was late.
  expect(granted).toBeGreaterThanOrEqual(plan.limit);
});

test.each([
  { takes: 700, waits: 700 },
  { takes: 1500, waits: 1000 },
])("a request waits $waits ms for a lease that takes $takes ms, and is granted", async ({ takes, waits }) => {
  new VirtualTable(start, () => takes);
  const take = rateLimiter({ requests: 25, seconds: 60 });
  const taken = Promise.resolve(take("acme")).then(({ granted }) => [granted, Date.now() - start]);
  await vi.advanceTimersByTimeAsync(3000);
  expect(await taken).toEqual([true, waits]);
});
