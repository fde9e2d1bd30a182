import { UserError } from "../../user-error.ts";

/**
 * The faults of the table that a local run can inject: a call is throttled, gets its response up to two seconds late, or
 * takes effect without a response.
 */
const faultNames = ["throttle", "late", "drop"] as const;

export type InjectedFault = (typeof faultNames)[number];

/** The fraction of calls that get a fault. */
const share = 0.2;

/** Reads the names of faults, separated by commas. @throws UserError for an unknown one */
export function readFaults(names: string): readonly InjectedFault[] {
  return names.split(",").map((name) => {
    const fault = faultNames.find((known) => known === name.trim());
    if (!fault)
      throw new UserError(
        `FAULTS=${names} must have one or more of ${faultNames.join(", ")}, separated by commas.`,
      );
    return fault;
  });
}

export type Faults = ReturnType<typeof createFaults>;

/** Draws faults of these kinds for calls, and remembers the faults of each API request until its response is sent. */
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
