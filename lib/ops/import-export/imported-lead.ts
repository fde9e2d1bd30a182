import { encodeTime } from "ulid";
import { createdAt } from "../../../shared/ids.ts";
import { type Lead, lead as leadSchema } from "../../../shared/schemas/lead-schemas.ts";
import { toRecord } from "../../../shared/schemas/record.ts";
import type { LeadInput } from "./lead-check.ts";

/** An import of a file into an account. */
export interface Import {
  /** The SHA-256 of the file's bytes. */
  readonly digest: Buffer;
  /** When the file's first import into the account began, in milliseconds since the epoch. */
  readonly startedAt: number;
}

/** The lead of a row: the same one however often the file is imported. */
export function importedLead({ at, ...input }: LeadInput, line: number, { digest, startedAt }: Import): Lead {
  const id = input.id ?? `lead_${encodeTime(at ?? startedAt, 10)}${randomPart(line, digest)}`;
  const { score = 0, status = "new", tags = [] } = input;
  return toRecord(leadSchema, { ...input, id, score, status, tags, createdAt: createdAt(id) });
}

/**
 * The 80 bits of a ULID that are not its time: 35 of the line, so that rows of one time are in the file's order, and 45
 * of the file's digest, so that no other import and no route makes the same id.
 */
const randomPart = (line: number, digest: Buffer) =>
  encodeTime(line, 7) + encodeTime(Math.floor(digest.readUIntBE(0, 6) / 8), 9);
