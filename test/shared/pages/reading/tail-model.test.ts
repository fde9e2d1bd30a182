import fc from "fast-check";
import { afterEach, expect, test, vi } from "vitest";
import { leadStatuses } from "../../../../shared/schemas/lead-schemas.ts";
import { LeadHistory } from "../../../support/lead-history.ts";
import { smallLimits } from "../../../support/small-limits.ts";

afterEach(() => {
  vi.restoreAllMocks();
  vi.useRealTimers();
});

const source = fc.constantFrom("a", "b", undefined);
const status = fc.constantFrom(...leadStatuses);
const index = fc.nat(1000);
/** How far a clock is from the right time, in milliseconds. */
const skew = fc.constantFrom(-1000, 0, 0, 1000);

const list = fc.record({
  do: fc.constant("list" as const),
  filter: fc.record(
    { source: fc.constantFrom("a", "b"), status: fc.constantFrom("new", "booked") },
    { requiredKeys: [] },
  ),
  page: fc.integer({ min: 1, max: 6 }),
  limit: fc.constantFrom(1, 3, 5, 20),
});

const step = fc.oneof(
  {
    weight: 8,
    arbitrary: fc.record({
      do: fc.constant("create" as const),
      source,
      late: fc.integer({ min: 0, max: 3000 }),
      count: fc.integer({ min: 1, max: 5 }),
      skew,
    }),
  },
  {
    weight: 4,
    arbitrary: fc.record({
      do: fc.constant("advance" as const),
      by: fc.oneof(fc.integer({ min: 1, max: 3000 }), fc.integer({ min: 5000, max: 60_000 })),
    }),
  },
  { weight: 2, arbitrary: fc.record({ do: fc.constant("change" as const), index, status }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant("delete" as const), index }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant("deliver" as const), skew }) },
  { weight: 10, arbitrary: list },
);
type Step = typeof step extends fc.Arbitrary<infer T> ? T : never;

/** @param readerSkew how far the clock of the environment that lists is ahead */
async function take(history: LeadHistory, step: Step, readerSkew: number): Promise<void> {
  const at = (index: number) => [...history.leads.keys()][index % Math.max(1, history.leads.size)] ?? "";
  switch (step.do) {
    case "create":
      for (let i = 0; i < step.count; i++) {
        history.addLate({ age: -step.skew, ...(step.source && { source: step.source }) }, step.late);
      }
      return;
    case "advance":
      return history.advance(step.by);
    case "change":
      return history.setStatus(at(step.index), step.status);
    case "delete":
      return history.delete(at(step.index));
    case "deliver":
      return history.deliver(smallLimits, step.skew);
    case "list": {
      const { filter, page, limit } = step;
      vi.setSystemTime(history.now + readerSkew);
      const response = await history.list(filter, { page, limit });
      vi.setSystemTime(history.now);
      // Lists show deletions and changes when the stream has delivered them.
      if (!history.changed) expect(response).toEqual(history.expected(filter, { page, limit }));
    }
  }
}

test("lists are exact over any history of leads that land late, change, and are deleted", {
  timeout: 600_000,
}, async () => {
  const histories = fc.asyncProperty(
    fc.array(step, { minLength: 10, maxLength: 120, size: "max" }),
    skew,
    async (steps, readerSkew) => {
      const history = new LeadHistory();
      for (const step of steps) await take(history, step, readerSkew);
    },
  );
  await fc.assert(histories, {
    numRuns: Number(process.env.HISTORIES ?? 100),
    ...(process.env.SEED && { seed: Number(process.env.SEED) }),
  });
});
