import { UserError } from "../../user-error.ts";

/**
 * The faults of the table that a local run can have: calls that are throttled, that get their response up to two seconds
 * late, and that take effect without a response.
 */
const faultNames = ["throttle", "late", "drop"] as const;

export type InjectedFault = (typeof faultNames)[number];

/** How many calls have a fault. */
const share = 0.2;

/** Reads the names of faults, separated by commas. @throws UserError for an unknown one */
export function readFaults(names: string): readonly InjectedFault[] {
  return names.split(",").map((name) => {
    const fault = faultNames.find((known) => known === name.trim());
    if (!fault) throw new UserError(`FAULTS=${names} must have names of ${faultNames.join(", ")}.`);
    return fault;
  });
}

export type Faults = ReturnType<typeof createFaults>;

/** Draws the faults of calls, of these kinds, and remembers those of each request to the API until it has its response. */
export function createFaults(names: readonly InjectedFault[]) {
  const drawn = new Map<string, string[]>();
  return {
    draw(requestId: string | undefined, operation: string): InjectedFault | undefined {
      const fault = Math.random() < share ? names[Math.floor(Math.random() * names.length)] : undefined;
      if (fault && requestId)
        drawn.set(requestId, [...(drawn.get(requestId) ?? []), `${fault} ${operation}`]);
      return fault;
    },
    take(requestId: string): readonly string[] {
      const faults = drawn.get(requestId) ?? [];
      drawn.delete(requestId);
      return faults;
    },
  };
}
