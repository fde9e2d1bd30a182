import { maintainer } from "../programs.ts";
import type { Scenario } from "../scenario.ts";
import type { State, Working } from "../state.ts";
import type { Step, Steps } from "./steps.ts";

/** The steps of the maintainers of a scenario. */
export const maintainerSteps = (steps: Steps, scenario: Scenario, state: State): Step[] =>
  Array.from(state.maintainers.entries()).flatMap(([slot, working]) =>
    working ? work(steps, state, slot, working) : begin(steps, scenario, state, slot),
  );

/** A maintainer receives all pending changes, or only the first one. */
function begin(steps: Steps, { maintainers, limits }: Scenario, state: State, slot: number): Step[] {
  const { pending } = state;
  // Only the first free slot of those with the same clock begins, because the others would do the same.
  const skew = maintainers[slot] ?? 0;
  const free = maintainers.findIndex((other, i) => other === skew && !state.maintainers[i]);
  const first = pending & -pending;
  const batches = pending === 0 || free !== slot ? [] : first === pending ? [pending] : [pending, first];
  return batches.map((batch) => {
    const records = state.records.filter((_, number) => batch & (1 << number));
    const changes = steps.records.changes(records.map((record = -1) => record));
    const program = maintainer(changes, limits, skew);
    return {
      label: `${nameOf(slot)} gets ${changes.map(({ key, kind }) => `${kind} ${key}`)}`,
      take: async () => {
        const actor = await steps.actors.start(program, state.clock);
        return { ...set(state, slot, { actor, batch }), pending: pending & ~batch };
      },
    };
  });
}

function work(steps: Steps, state: State, slot: number, { actor, batch }: Working): Step[] {
  const name = nameOf(slot);
  for (const { command, label } of actor.requests)
    if (command && isEventual(command)) throw new Error(`${name} trusts an index: ${label}`);
  return [
    ...steps.answer(state, name, actor, (next, after) => {
      if (!next.end) return set(after, slot, { actor: next, batch });
      const ended = set(after, slot, undefined);
      if ("error" in next.end) throw next.end.error;
      const isDone = (number: number) => batch & (1 << number);
      return { ...ended, records: after.records.map((it, number) => (isDone(number) ? undefined : it)) };
    }),
    ...steps.crash(state, name, {
      ...set(state, slot, undefined),
      pending: state.pending | batch,
    }),
  ];
}

/** Whether a command may see earlier versions of rows. */
const isEventual = (command: object) =>
  /^((Batch)?Get|Query)/.test(command.constructor.name) &&
  !JSON.stringify(Reflect.get(command, "input")).includes('"ConsistentRead":true');

const nameOf = (slot: number) => `maintainer ${slot + 1}`;

const set = (state: State, slot: number, working: State["maintainers"][number]): State => ({
  ...state,
  maintainers: state.maintainers.with(slot, working),
});
