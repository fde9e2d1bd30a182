import fc from "fast-check";
import { forgetTails } from "../../../shared/pages/read/tail.ts";
import type { CountedWorld } from "../counted-world.ts";
import { BrokenCallError, readPage, readPageSlowly } from "./readers.ts";
import type { ListFilter, RowKind } from "./row-kind.ts";

const index = fc.nat(1000);
/** The index of a row: often of one of the oldest, so that rows change several times. */
const row = fc.oneof(fc.nat(1000), fc.nat(2));
const page = fc.integer({ min: 1, max: 6 });
const skew = fc.integer({ min: -1000, max: 1000 });

/** Often without bounds; the least may be more than the most, so that no row has such an age. */
const age = fc.option(
  fc.record({
    most: fc.option(fc.integer({ min: -1000, max: 90_000 }), { nil: undefined }),
    least: fc.option(fc.oneof(fc.integer({ min: -1000, max: 15_000 }), fc.integer({ max: 90_000, min: 0 })), {
      nil: undefined,
    }),
  }),
  { nil: undefined },
);

/** Most rows have one of the first values. */
const mostlyFirst = <T>(values: readonly T[], first: number) =>
  fc.oneof(
    { weight: 5, arbitrary: fc.constantFrom(...values.slice(0, first)) },
    { weight: 1, arbitrary: fc.constantFrom(...values) },
  );

/** A step, with its name and its parameters. */
const action = <const T extends string, P extends object>(
  name: T,
  parameters: { [K in keyof P]: fc.Arbitrary<P[K]> },
): fc.Arbitrary<{ readonly do: T } & P> =>
  fc.record(parameters).map((values) => Object.assign({ do: name }, values as P));

/** The steps of a schedule in a world with rows of this kind, with their weights. */
function steps({ statuses, origins, parents }: RowKind) {
  const [origin, parent] = [mostlyFirst(origins, 2), mostlyFirst(parents, 1)];
  const status = fc.constantFrom(...statuses);
  const some = <T>(values: fc.Arbitrary<T>) => fc.option(values, { nil: undefined });
  const sublist = fc.oneof(
    fc.record({ origin, parent: some(parent) }),
    fc.record({ status: some(status), origin: some(origin), parent }),
  );
  const exactly = fc.record({ filter: fc.constant<ListFilter>({}), page, age, skew });
  const request = fc.oneof(exactly, fc.record({ filter: sublist, page, age, skew }));
  return fc.oneof(
    { weight: 9, arbitrary: action("create", { origin, parent }) },
    {
      weight: 1,
      arbitrary: action("create many", { origin, parent, count: fc.integer({ min: 2, max: 12 }) }),
    },
    {
      weight: 3,
      arbitrary: action("backdate", { origin, parent, age: fc.integer({ min: 1, max: 60_000 }) }),
    },
    { weight: 2, arbitrary: action("change", { row, to: fc.record({ status }) }) },
    { weight: 2, arbitrary: action("change", { row, to: fc.record({ origin }) }) },
    { weight: 1, arbitrary: action("change", { row, to: fc.record({ status, origin }) }) },
    { weight: 2, arbitrary: action("delete", { row }) },
    {
      weight: 3,
      arbitrary: action("advance", {
        by: fc.oneof(
          fc.integer({ min: 1, max: 7000 }),
          fc.integer({ min: 800, max: 2500 }),
          fc.integer({ min: 7000, max: 40_000 }),
        ),
      }),
    },
    {
      weight: 4,
      arbitrary: action("deliver", {
        ...{ order: fc.array(index, { maxLength: 12 }), again: fc.array(fc.nat(60), { maxLength: 2 }) },
        skew,
      }),
    },
    {
      weight: 14,
      arbitrary: action("step", { gates: fc.array(index, { minLength: 1, maxLength: 12 }) }),
    },
    { weight: 4, arbitrary: action("run", { index, calls: fc.integer({ min: 2, max: 40 }) }) },
    { weight: 2, arbitrary: action("throttle", { index }) },
    { weight: 1, arbitrary: action("break", { index }) },
    { weight: 1, arbitrary: action("crash", { index }) },
    { weight: 1, arbitrary: action("damage", { index, how: fc.constantFrom("delete", "spoil") }) },
    { weight: 4, arbitrary: action("read", { request }) },
    { weight: 2, arbitrary: action("read slowly", { request }) },
    { weight: 1, arbitrary: action("new environment", {}) },
  );
}

/** A step of a schedule. */
type Step = ReturnType<typeof steps> extends fc.Arbitrary<infer T> ? T : never;

/** How late rows come to an index, in milliseconds: not at all, or up to some time, or not before the end. */
const lags = fc.oneof(
  fc.array(fc.oneof(fc.constant(0), fc.integer({ min: 0, max: 30_000 })), { maxLength: 6 }),
  fc.array(
    fc.oneof(fc.constant(0), fc.integer({ min: 0, max: 600_000 }), fc.constant(Number.POSITIVE_INFINITY)),
    { maxLength: 6 },
  ),
);

/** Random schedules for a world with rows of this kind. */
export const schedules = (kind: RowKind) =>
  fc.record({ lags, steps: fc.array(steps(kind), { minLength: 20, maxLength: 150, size: "max" }) });

/** Takes one step in a world. */
export async function take(world: CountedWorld, step: Step): Promise<unknown> {
  const { io } = world;
  switch (step.do) {
    case "create":
      return world.create(step.origin, step.parent);
    case "create many":
      return world.createMany(step.count, step.origin, step.parent);
    case "backdate":
      return world.backdate(step.age, step.origin, step.parent);
    case "change":
      return world.change(step.row, step.to);
    case "delete":
      return world.delete(step.row);
    case "advance":
      return io.advanceTo(io.now + step.by);
    case "deliver":
      return world.deliver(step.order, step.again, step.skew);
    case "step":
      for (const gate of step.gates) if (io.waiting > 0) await io.step(gate);
      return;
    case "run":
      return io.run(step.index, step.calls);
    case "throttle":
      return io.throttle(step.index, ["maintainer"]);
    case "break":
      return io.throttle(step.index, ["slow reader"], new BrokenCallError());
    case "crash":
      return world.crashMaintainer(step.index);
    case "damage":
      return world.damage(step.index, step.how);
    case "read":
      return readPage(world, step.request);
    case "read slowly":
      return readPageSlowly(world, step.request);
    case "new environment":
      return forgetTails();
  }
}
