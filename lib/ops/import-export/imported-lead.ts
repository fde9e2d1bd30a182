import { encodeTime } from "ulid";
import { createdAt } from "../../../shared/ids.ts";
import { type Lead, lead as leadSchema } from "../../../shared/schemas/lead-schemas.ts";
import { toRecord } from "../../../shared/schemas/record.ts";
import type { LeadInput } from "./lead-check.ts";

/**
 * Builds the lead of a row. Every import of the file builds the same lead.
 *
 * @param digest the SHA-256 of the file's bytes
 * @param startedAt the start of the file's first import into the account, in milliseconds since the epoch
 */
export function buildImportedLead(
  { at, ...input }: LeadInput,
  line: number,
  digest: Buffer,
  startedAt: number,
): Lead {
  const id = input.id ?? `lead_${encodeTime(at ?? startedAt, 10)}${randomPart(line, digest)}`;
  const { score = 0, status = "new", tags = [] } = input;
  return toRecord(leadSchema, { ...input, id, score, status, tags, createdAt: createdAt(id) });
}

/**
 * The 80 bits after the time of a ULID: 35 bits of the line, so that rows with the same time keep the file's order, and
 * 45 bits of the file's digest, so that no other import and no route creates the same id.
 */
const randomPart = (line: number, digest: Buffer) =>
  encodeTime(line, 7) + encodeTime(Math.floor(digest.readUIntBE(0, 6) / 8), 9);
