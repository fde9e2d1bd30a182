import type { Fault } from "../errors.ts";
import { isLarge, maxMetadataBytes } from "../schemas/field-schemas.ts";
import type { RouteEvent } from "./route-event.ts";

/** How much of a name in the request is repeated, in UTF-16 units. */
const maxNameLength = 64;

/** Records faults that no schema can find; the response lists them with those of the validator. */
export function addFaults(event: RouteEvent, ...faults: readonly Fault[]): void {
  event.faults = [...(event.faults ?? []), ...faults];
}

/** The fault of a body whose metadata has too many bytes. The schema finds too many names. */
export function metadataFaults(body: unknown): Fault[] {
  const value: unknown = (body as { metadata?: unknown } | null)?.metadata;
  if (typeof value !== "object" || value === null || !isLarge(value)) return [];
  const message = `must have at most ${maxMetadataBytes} bytes as JSON`;
  return [{ in: "body", field: "metadata", code: "too_large", message }];
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
