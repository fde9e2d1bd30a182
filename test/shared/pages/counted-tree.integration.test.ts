import fc from "fast-check";
import { test } from "vitest";
import { leadStatuses } from "../../../shared/schemas/lead-schemas.ts";
import { CountedWorld } from "../../support/counted-world.ts";
import { smallLimits } from "../../support/small-limits.ts";

/** More sources than a dictionary holds; most leads have one of two. */
const sources = ["a", "b", ...Array.from({ length: 20 }, (_, i) => `rare-${i}`)];
const source = fc.oneof(
  { weight: 4, arbitrary: fc.constantFrom("a", "b", undefined) },
  { weight: 1, arbitrary: fc.constantFrom(...sources) },
);
const index = fc.nat(1000);

const step = fc.oneof(
  { weight: 8, arbitrary: fc.record({ do: fc.constant("create" as const), source }) },
  {
    weight: 3,
    arbitrary: fc.record({
      do: fc.constant("backdate" as const),
      source,
      age: fc.integer({ min: 1, max: 60_000 }),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      do: fc.constant("change" as const),
      index,
      status: fc.constantFrom(...leadStatuses),
    }),
  },
  { weight: 2, arbitrary: fc.record({ do: fc.constant("delete" as const), index }) },
  {
    weight: 3,
    arbitrary: fc.record({
      do: fc.constant("advance" as const),
      by: fc.oneof(fc.integer({ min: 1, max: 7000 }), fc.integer({ min: 800, max: 2500 })),
    }),
  },
  {
    weight: 4,
    arbitrary: fc.record({
      do: fc.constant("deliver" as const),
      order: fc.array(index, { maxLength: 12 }),
      again: fc.array(fc.nat(60), { maxLength: 2 }),
      skew: fc.integer({ min: -1000, max: 1000 }),
    }),
  },
  {
    weight: 14,
    arbitrary: fc.record({
      do: fc.constant("step" as const),
      gates: fc.array(index, { minLength: 1, maxLength: 8 }),
    }),
  },
  { weight: 2, arbitrary: fc.record({ do: fc.constant("throttle" as const), index }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant("crash" as const), index }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant("rebuild" as const) }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant("crash rebuild" as const) }) },
  {
    weight: 3,
    arbitrary: fc.record({ do: fc.constant("read" as const), page: fc.integer({ min: 1, max: 6 }) }),
  },
  {
    weight: 2,
    arbitrary: fc.record({ do: fc.constant("read slowly" as const), page: fc.integer({ min: 1, max: 6 }) }),
  },
);
type Step = typeof step extends fc.Arbitrary<infer T> ? T : never;

async function take(world: CountedWorld, step: Step): Promise<void> {
  switch (step.do) {
    case "create":
      return world.create(step.source);
    case "backdate":
      return world.backdate(step.age, step.source);
    case "change":
      return world.changeStatus(step.index, step.status);
    case "delete":
      return world.delete(step.index);
    case "advance":
      return world.io.advanceTo(world.io.now + step.by);
    case "deliver":
      await world.deliver(step.order, step.again, step.skew);
      return;
    case "step":
      for (const gate of step.gates) if (world.io.waiting > 0) await world.io.step(gate);
      return;
    case "throttle":
      return world.io.throttle(step.index, "maintainer", "rebuild");
    case "crash":
      return world.crashMaintainer(step.index);
    case "rebuild":
      return world.rebuild();
    case "crash rebuild":
      return world.crashRebuild();
    case "read":
      return world.read(step.page);
    case "read slowly":
      await world.readSlowly(step.page);
  }
}

const schedules = () =>
  fc.asyncProperty(fc.array(step, { minLength: 20, maxLength: 150, size: "max" }), async (steps) => {
    const world = new CountedWorld(smallLimits);
    try {
      for (const step of steps) {
        await take(world, step);
        await world.look();
      }
      await world.drain();
      world.io.check();
      await world.compare([undefined, ...sources.slice(0, 6)]);
    } finally {
      world.io.restore();
    }
  });

const numRuns = Number(process.env.SCHEDULES ?? 40);

test("lists match a model in memory in any interleaving of calls", {
  timeout: 3_600_000,
}, async () => {
  await fc.assert(schedules(), {
    numRuns,
    endOnFailure: true,
    ...(process.env.SEED && { seed: Number(process.env.SEED) }),
  });
});
