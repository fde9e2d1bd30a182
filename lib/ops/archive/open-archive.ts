import type { Conversation } from "../../../shared/schemas/conversation-schemas.ts";
import { UserError } from "../../errors.ts";
import { type ArchiveLine, checkLine, type LineType, lineTypes } from "./archive-lines.ts";
import { parseJsonLines } from "./jsonl-rows.ts";
import { type Manifest, manifestPath, readManifest } from "./manifest.ts";
import { describeFault, type Row, type RowFault, rowFault } from "./row.ts";
import { openRowFile } from "./row-file.ts";

/** The archive of an account, every line of which is valid. */
export interface Archive {
  readonly manifest: Manifest;
  /** The number of lines. */
  readonly count: number;
  /** Reads the lines, and checks them once more. */
  lines(): AsyncGenerator<ArchiveLine>;
}

/**
 * Opens an archive: reads all of it, before anything is written, and compares it with its manifest.
 *
 * @throws UserError that names the file, the line and the field
 */
export async function openArchive(path: string): Promise<Archive> {
  const manifest = await readManifest(path);
  const file = await openRowFile(path, { ".jsonl": parseJsonLines });
  const now = Date.now();
  const lines = () => checkedLines(path, file.rows(), now);
  if (file.digest.toString("hex") !== manifest.sha256)
    throw new UserError(`${path} differs from its manifest: it is damaged, or of another export.`);
  const counts = noLines();
  for await (const { type } of lines()) counts[type] += 1;
  const wrong = lineTypes.find((type) => counts[type] !== manifest.lines[type]);
  if (wrong)
    throw new UserError(`${manifestPath(path)}: lines[${wrong}] must be ${counts[wrong]}, as in the file.`);
  return { manifest, count: file.count, lines };
}

/** The number of lines of each type in an empty archive. */
export const noLines = () =>
  Object.fromEntries(lineTypes.map((type) => [type, 0])) as Record<LineType, number>;

/** Checks rows as lines of an archive, and each message beside its conversation. */
async function* checkedLines(
  path: string,
  rows: AsyncGenerator<Row>,
  now: number,
): AsyncGenerator<ArchiveLine> {
  const refuse = (line: number, fault: RowFault | undefined) => {
    if (fault) throw new UserError(`${path}, line ${line}: ${describeFault(fault)}`);
  };
  let conversation: Conversation | undefined;
  // The line of a conversation that no message has followed.
  let empty: number | undefined;
  for await (const row of rows) {
    const line = "fault" in row ? row : checkLine(row.value, now);
    if ("fault" in line) return refuse(row.line, line.fault);
    if (line.type === "message") refuse(row.line, messageFault(line, conversation));
    else if (empty !== undefined) refuse(empty, noMessage);
    if (line.type === "conversation") {
      refuse(row.line, conversationFault(line, conversation));
      conversation = line;
    }
    empty = line.type === "conversation" ? row.line : undefined;
    yield line;
  }
  if (empty !== undefined) refuse(empty, noMessage);
}

/** The API stores no conversation without a message, and an import could not correct the number that its line has. */
const noMessage = rowFault("", "required", "must be followed by a message");

function messageFault(
  message: Extract<ArchiveLine, { type: "message" }>,
  conversation: Conversation | undefined,
): RowFault | undefined {
  if (!conversation) return rowFault("type", "not_allowed", "must not be message before a conversation");
  const { id, leadId, channel } = conversation;
  const wrong = Object.entries({ conversationId: id, leadId, channel }).find(
    ([name, value]) => message[name as "channel"] !== value,
  );
  return wrong && rowFault(wrong[0], "not_allowed", `must be ${wrong[1]}, as in the conversation before it`);
}

/** A conversation that came twice could have messages of two leads. */
function conversationFault({ id }: Conversation, before: Conversation | undefined): RowFault | undefined {
  if (!before || id > before.id) return undefined;
  return rowFault("id", "not_allowed", "must be greater than that of the conversation before it");
}
