import type { Conversation } from "../../../shared/schemas/conversation-schemas.ts";
import { UserError } from "../../errors.ts";
import { type ArchiveLine, checkLine, type LineType, lineId, lineTypes } from "./archive-lines.ts";
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

/** A conversation whose messages are being read. */
interface OpenConversation {
  readonly conversation: Conversation;
  readonly line: number;
  messages: number;
  last: { readonly id: string; readonly createdAt: string } | undefined;
}

/** Checks rows as lines of an archive, by themselves and in their order. */
async function* checkedLines(
  path: string,
  rows: AsyncGenerator<Row>,
  now: number,
): AsyncGenerator<ArchiveLine> {
  const refuse = (line: number, fault: RowFault | undefined) => {
    if (fault) throw new UserError(`${path}, line ${line}: ${describeFault(fault)}`);
  };
  let before: ArchiveLine | undefined;
  let open: OpenConversation | undefined;
  const close = () => open && refuse(open.line, countFault(open));
  for await (const row of rows) {
    const line = "fault" in row ? row : checkLine(row.value, now);
    if ("fault" in line) return refuse(row.line, line.fault);
    if (line.type === "message") {
      refuse(row.line, messageFault(line, open));
      if (open) open = { ...open, messages: open.messages + 1, last: line };
    } else {
      close();
      refuse(row.line, before && orderFault(line, before));
      before = line;
      open =
        line.type === "conversation"
          ? { conversation: line, line: row.line, messages: 0, last: undefined }
          : undefined;
    }
    yield line;
  }
  close();
}

/** An export sorts lines by type and id, so no line can occur twice. */
function orderFault(line: ArchiveLine, before: ArchiveLine): RowFault | undefined {
  const [rank, rankBefore] = [lineTypes.indexOf(line.type), lineTypes.indexOf(before.type)];
  if (rank < rankBefore)
    return rowFault(
      "type",
      "not_allowed",
      `must not be ${line.type} after a line of the type ${before.type}`,
    );
  if (rank > rankBefore || lineId(line) > lineId(before)) return undefined;
  return rowFault(
    "",
    "not_allowed",
    `must come once, and in the order of the ids: it has ${lineId(line) || line.type}`,
  );
}

function messageFault(
  message: Extract<ArchiveLine, { type: "message" }>,
  open: OpenConversation | undefined,
): RowFault | undefined {
  if (!open) return rowFault("type", "not_allowed", "must not be message before a conversation");
  const { id, leadId, channel } = open.conversation;
  const wrong = Object.entries({ conversationId: id, leadId, channel }).find(
    ([name, value]) => message[name as "channel"] !== value,
  );
  if (wrong)
    return rowFault(wrong[0], "not_allowed", `must be ${wrong[1]}, as in the conversation before it`);
  if (open.last && message.id <= open.last.id)
    return rowFault("id", "not_allowed", "must be greater than that of the message before it");
  return undefined;
}

function countFault({ conversation, messages, last }: OpenConversation): RowFault | undefined {
  if (conversation.messageCount !== messages)
    return rowFault("messageCount", "not_allowed", `must be ${messages}, the number of messages that follow`);
  if (conversation.lastMessageAt === last?.createdAt) return undefined;
  return rowFault("lastMessageAt", "not_allowed", `must be ${last?.createdAt}, the time of the last message`);
}
