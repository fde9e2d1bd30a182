import fc from "fast-check";
import { test, vi } from "vitest";
import { forgetTails } from "../../../shared/pages/read/tail.ts";
import { checkWorld, drain } from "../../support/counted-world/drain.ts";
import { look } from "../../support/counted-world/readers.ts";
import { conversationRows, leadRows } from "../../support/counted-world/row-kind.ts";
import { schedules, take } from "../../support/counted-world/schedule.ts";
import { CountedWorld } from "../../support/counted-world.ts";
import { smallLimits } from "../../support/small-limits.ts";

/** All schedules of a run: half of them for each kind of rows. */
const numRuns = Math.ceil(Number(process.env.SCHEDULES ?? 60) / 2);

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
      const world = new CountedWorld(kind, smallLimits);
      vi.spyOn(console, "error").mockReturnValue();
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
      ...(process.env.SEED && { seed: Number(process.env.SEED), path: process.env.SCHEDULE }),
    });
  },
);
