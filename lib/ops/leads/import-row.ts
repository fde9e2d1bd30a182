import { encodeTime } from "ulid";
import { addLead } from "../../../shared/domain/leads.ts";
import { createdAt } from "../../../shared/ids.ts";
import { type Lead, lead as leadSchema } from "../../../shared/schemas/lead-schemas.ts";
import { toRecord } from "../../../shared/schemas/record.ts";
import { retryWhileBusy } from "../common/pace.ts";
import type { LeadInput } from "./lead-check.ts";

/** The import of a file into an account. */
interface FileImport {
  readonly account: string;
  /** The SHA-256 of the file's bytes. */
  readonly digest: Buffer;
  /** The start of the file's first import, in milliseconds since the epoch. */
  readonly startedAt: number;
  /** Identifies this run of the import. */
  readonly runId: string;
  /** The ids of the leads that were erased, and must not come back. */
  readonly erased: ReadonlySet<string>;
  /** Those of them of which the file has had no row: of the others, an import that ended early may have stored one. */
  readonly unmet: Set<string>;
}

/** What became of a row: this run has stored its lead, an earlier one had, or the lead is erased. */
type RowOutcome = "imported" | "present" | "erased";

/** Stores the lead of a row, unless an earlier import of the file has stored it, or it is erased. */
export async function importRow(fileImport: FileImport, line: number, input: LeadInput): Promise<RowOutcome> {
  const lead = buildLead(fileImport, line, input);
  fileImport.unmet.delete(lead.id);
  if (fileImport.erased.has(lead.id)) return "erased";
  const added = await retryWhileBusy(() => addLead(fileImport.account, lead, fileImport.runId));
  return added ? "imported" : "present";
}

/** The lead of a row, the same in every import of the file. */
function buildLead({ digest, startedAt }: FileImport, line: number, { at, ...input }: LeadInput): Lead {
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
