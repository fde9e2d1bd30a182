import fc from "fast-check";
import { test } from "vitest";
import { forgetTails } from "../../../shared/pages/tail.ts";
import type { Limits } from "../../../shared/pages/tree/tree-limits.ts";
import { checkWorld, drain } from "../../support/counted-world/drain.ts";
import { look } from "../../support/counted-world/readers.ts";
import { conversationRows, leadRows } from "../../support/counted-world/row-kind.ts";
import { schedules, take } from "../../support/counted-world/schedule.ts";
import { CountedWorld } from "../../support/counted-world.ts";
import { smallLimits } from "../../support/small-limits.ts";

/** Some changes come without a look at the tail of their sublists. */
const limits: Limits = { ...smallLimits, lookEvery: 2, manyRows: 3 };

/** All schedules of a run: half of them for each kind of rows. */
const numRuns = Math.ceil(Number(process.env.SCHEDULES ?? 90) / 2);

test.each([
  ["leads", leadRows],
  ["conversations", conversationRows],
] as const)(
  "lists of %s match a model in memory in any interleaving of calls",
  {
    timeout: 3_600_000,
  },
  async (_, kind) => {
    const property = fc.asyncProperty(schedules(kind), async ({ lags, steps }) => {
      forgetTails();
      const world = new CountedWorld(kind, limits);
      world.table.lags = lags;
      try {
        for (const step of steps) {
          await take(world, step);
          await look(world);
        }
        await drain(world);
        await checkWorld(world);
      } finally {
        world.io.restore();
      }
    });
    await fc.assert(property, {
      numRuns,
      endOnFailure: process.env.SHRINK === undefined,
      ...(process.env.SEED && { seed: Number(process.env.SEED) }),
    });
  },
);
