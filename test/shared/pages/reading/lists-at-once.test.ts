import { setImmediate } from "node:timers/promises";
import { afterEach, expect, test, vi } from "vitest";
import { TooExpensiveError } from "../../../../shared/dynamodb/dynamodb-errors.ts";
import { LeadHistory } from "../../../support/lead-history.ts";
import { pick, seeded } from "../../../support/random.ts";
import { smallLimits } from "../../../support/small-limits.ts";

afterEach(() => {
  vi.restoreAllMocks();
  vi.useRealTimers();
});

const filters = [{}, {}, { source: "web" }, { status: "new", source: "web" }] as const;

test("lists that run at once in an environment, beside a maintainer, are exact", async () => {
  const random = seeded(3);
  const outcomes = { exact: 0, failed: 0 };
  for (let round = 0; round < 40; round++) {
    const history = new LeadHistory();
    for (let batch = 0; batch < 4; batch++) {
      history.advance(60_000);
      history.addMany(10 + Math.floor(random() * 40), { age: 1000, source: "web" });
      history.table.before = async () => {
        // Each call comes to its turn at another time.
        for (let turns = Math.floor(random() * 6); turns > 0; turns--) await setImmediate();
        if (random() < 0.03) throw new Error("broken");
      };
      history.advance(pick(random, [0, 5000, 40_000]));
      const lists = Array.from({ length: 6 }, async () => {
        const filter = pick(random, filters);
        const request = { page: 1 + Math.floor(random() * 5), limit: pick(random, [1, 3, 10, 20]) };
        try {
          expect(await history.list(filter, request)).toEqual(history.expected(filter, request));
          outcomes.exact++;
        } catch (error) {
          // Commits make lists start again, and the maintainer moves the clock by seconds.
          const expected = error instanceof TooExpensiveError || String(error) === "Error: broken";
          if (!expected) throw error;
          outcomes.failed++;
        }
      });
      const { changes } = history;
      const delivery = history.deliver(smallLimits).catch(() => {
        history.changes = changes;
      });
      await Promise.all([...lists, delivery]);
      history.table.before = () => {};
      for (const filter of filters) expect(await history.list(filter)).toEqual(history.expected(filter));
    }
  }
  expect(outcomes.exact).toBeGreaterThan(500);
  expect(outcomes.failed).toBeGreaterThan(10);
});
