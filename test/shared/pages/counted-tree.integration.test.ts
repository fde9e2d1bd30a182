import fc from "fast-check";
import { test } from "vitest";
import { forgetTails } from "../../../shared/pages/tail.ts";
import type { Limits } from "../../../shared/pages/tree/tree-limits.ts";
import { checkWorld, drain } from "../../support/counted-world/drain.ts";
import { look } from "../../support/counted-world/readers.ts";
import { conversationRows, emailRows, leadRows } from "../../support/counted-world/row-kind.ts";
import { schedules, take } from "../../support/counted-world/schedule.ts";
import { CountedWorld } from "../../support/counted-world.ts";
import { smallLimits } from "../../support/small-limits.ts";

/** Some changes come without a look at the tail of their sublists. */
const leadLimits: Limits = { ...smallLimits, lookEvery: 2, manyRows: 3 };

/** The keys of a page of a group are in several nodes, each of which is a call: so nodes are not as small. */
const conversationLimits: Limits = { ...leadLimits, nodeBytes: 200, keptBytes: 150, rootBytes: 480 };

/** All schedules of a run: a third of them for each kind of rows. */
const numRuns = Math.ceil(Number(process.env.SCHEDULES ?? 90) / 3);

test.each([
  ["leads", leadRows, leadLimits],
  ["leads with email addresses", emailRows, conversationLimits],
  ["conversations", conversationRows, conversationLimits],
] as const)(
  "lists of %s match a model in memory in any interleaving of calls",
  {
    timeout: 3_600_000,
  },
  async (_, kind, limits) => {
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
