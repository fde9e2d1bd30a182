import { ApiError, type Fault } from "../errors.ts";
import type { RouteEvent } from "./route-event.ts";

/** How many faults a response lists at most. */
export const maxFaults = 100;

/** How many faults the detail of a problem names at most. */
const namedFaults = 5;

/** How much of a name in the request is repeated, in UTF-16 units. */
const maxNameLength = 64;

/** The error for a request with faults; its detail names the first ones. */
export function invalidInput(faults: readonly Fault[]): ApiError {
  const named = faults.slice(0, namedFaults).map(({ field, message }) => `${field || "body"} ${message}`);
  const unnamed = Math.min(faults.length, maxFaults) - namedFaults;
  const atLeast = faults.length >= maxFaults ? "at least " : "";
  const more = unnamed > 0 ? `; and ${atLeast}${unnamed} more faults` : "";
  return new ApiError("invalid_input", `The request is invalid: ${named.join("; ")}${more}.`, { faults });
}

/** Records faults that no schema can find; the response lists them with those of the validator. */
export function addFaults(event: RouteEvent, ...faults: readonly Fault[]): void {
  event.faults = [...(event.faults ?? []), ...faults];
}

/**
 * The name of a member of what is named `parent`: `tags`, then `tags[3]`. An empty name becomes `""`, because the empty
 * name stands for the whole body; a long name is cut.
 *
 * @param parent undefined for the whole body or query
 */
export function memberName(parent: string | undefined, member: string | number): string {
  const isName = parent === undefined && typeof member === "string";
  const name = isName ? member || '""' : `${parent ?? ""}[${member}]`;
  return name.length > maxNameLength ? `${name.slice(0, maxNameLength)}…` : name;
}
