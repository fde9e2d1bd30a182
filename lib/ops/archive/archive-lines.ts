import { readPartition } from "../../../shared/dynamodb/keys.ts";
import type { Item } from "../../../shared/dynamodb/table-client.ts";
import { createdAt } from "../../../shared/ids.ts";
import {
  type Conversation,
  conversation as conversationSchema,
  type Message,
  message as messageSchema,
} from "../../../shared/schemas/conversation-schemas.ts";
import { type Lead, lead as leadSchema } from "../../../shared/schemas/lead-schemas.ts";
import { toRecord } from "../../../shared/schemas/record.ts";
import { storedName } from "../../../shared/stored-name.ts";
import { isRecord } from "../../is-record.ts";
import { largestLimit } from "../accounts/account-limit.ts";
import type { Note } from "../common/unreadable.ts";
import { type FieldsSchema, fieldCheck, idFaults, notTimeOfId, timeFaults } from "./check-fields.ts";
import { describeFault, type RowFault, rowFault } from "./row.ts";

/**
 * A line of an archive: an item of an account, without its keys, which are made of its fields. Pointers to active
 * conversations, the keys of indexes and counts follow from these lines.
 */
export type ArchiveLine =
  | { readonly type: "limit"; readonly requests: number }
  | { readonly type: "erasedLead"; readonly leadId: string; readonly id: string }
  | { readonly type: "leadImport"; readonly sha256: string; readonly startedAt: string }
  | ({ readonly type: "lead" } & Lead)
  | ({ readonly type: "conversation" } & Conversation)
  | ({ readonly type: "message" } & Message);

export type LineType = ArchiveLine["type"];

/** A line of some type. */
type LineOf<Type extends LineType> = Extract<ArchiveLine, { readonly type: Type }>;

interface LineKind<Type extends LineType> {
  /** What a line is, for messages. */
  readonly name: string;
  /** Its properties are in the order that they have in every export. */
  readonly schema: FieldsSchema;
  /** What no schema can say: the faults of a line whose fields are valid by themselves. */
  readonly faults: (line: LineOf<Type>, now: number) => readonly RowFault[];
}

export const text = { type: "string", minLength: 1 } as const;

/** The schema of an object that has all of these properties. */
export const fields = <Properties extends FieldsSchema["properties"]>(properties: Properties) => ({
  type: "object" as const,
  properties,
  required: Object.keys(properties),
  additionalProperties: false as const,
});

/** The kinds of lines, in the order of an archive; messages follow their conversation. */
const kinds: { readonly [Type in LineType]: LineKind<Type> } = {
  limit: {
    name: "a limit",
    schema: fields({ requests: { type: "integer", minimum: 1, maximum: largestLimit } }),
    faults: () => [],
  },
  erasedLead: {
    name: "an erased lead",
    schema: fields({ leadId: text, id: text }),
    faults: ({ leadId, id }, now) => [
      ...idFaults("leadId", leadId, "lead", now),
      ...idFaults("id", id, "erasure", now),
    ],
  },
  leadImport: {
    name: "an import of leads",
    schema: fields({ sha256: text, startedAt: text }),
    faults: ({ sha256, startedAt }, now) => [
      ...(/^[0-9a-f]{64}$/.test(sha256)
        ? []
        : [rowFault("sha256", "invalid_format", "must be a SHA-256 in hexadecimal digits")]),
      ...timeFaults("startedAt", startedAt, now),
    ],
  },
  lead: {
    name: "a lead",
    schema: leadSchema,
    faults: ({ id, source, createdAt }, now) => [
      ...creationFaults("lead", id, createdAt, now),
      ...nameFaults("source", source),
    ],
  },
  conversation: {
    name: "a conversation",
    schema: conversationSchema,
    faults: ({ id, leadId, channel, status, lastMessageAt }, now) => [
      ...idFaults("id", id, "conv", now),
      ...idFaults("leadId", leadId, "lead", now),
      ...nameFaults("channel", channel),
      ...nameFaults("status", status),
      ...timeFaults("lastMessageAt", lastMessageAt, now),
    ],
  },
  message: {
    name: "a message",
    schema: messageSchema,
    faults: ({ id, conversationId, leadId, channel, createdAt }, now) => [
      ...creationFaults("msg", id, createdAt, now),
      ...idFaults("conversationId", conversationId, "conv", now),
      ...idFaults("leadId", leadId, "lead", now),
      ...nameFaults("channel", channel),
    ],
  },
};

export const lineTypes = Object.keys(kinds) as readonly LineType[];

const checks = new Map<unknown, (value: unknown) => RowFault[]>(
  lineTypes.map((type) => [type, fieldCheck(kinds[type].name, kinds[type].schema)]),
);

/**
 * Checks a line against the schemas of the API.
 *
 * @param now the latest time that is allowed, in milliseconds since the epoch
 * @returns the line, or what is wrong first
 */
export function checkLine(value: unknown, now: number): ArchiveLine | { readonly fault: RowFault } {
  if (!isRecord(value)) return { fault: rowFault("", "wrong_type", "must be a JSON object") };
  const { type, ...record } = value;
  const check = checks.get(type);
  if (!check) return { fault: rowFault("type", "not_allowed", `must be one of ${lineTypes.join(", ")}`) };
  const [fault] = check(record);
  if (fault) return { fault };
  const line = value as unknown as ArchiveLine;
  const [other] = kinds[line.type].faults(line as never, now);
  return other ? { fault: other } : line;
}

/**
 * The line of an item: whatever wrote it, it is checked like any other input.
 *
 * @returns nothing, after a note, for an item that an import would refuse, or that is stored under another key than its own
 */
export function readLine<Type extends LineType>(
  type: Type,
  item: Item,
  note: Note,
): LineOf<Type> | undefined {
  // An import of leads has the SHA-256 only in its key.
  const record = toRecord(kinds[type].schema, { ...item, sha256: item.sk });
  const line = checkLine({ type, ...record }, Date.now());
  const fault = "fault" in line ? line.fault : placeFault(line, item);
  if (!fault) return line as LineOf<Type>;
  note(item, describeFault(fault, "the item"));
  return undefined;
}

/** The same without the type of the line. */
export function readImportable<Type extends LineType>(
  type: Type,
  item: Item,
  note: Note,
): Omit<LineOf<Type>, "type"> | undefined {
  const line = readLine(type, item, note);
  if (!line) return undefined;
  const { type: _, ...record } = line;
  return record;
}

/** The fault of an item that is stored under another key than its own. */
function placeFault(line: ArchiveLine, { pk, sk }: Item): RowFault | undefined {
  const [conversationId] = readPartition(String(pk))?.others ?? [];
  const isOwn =
    line.type === "message"
      ? line.id === sk && line.conversationId === conversationId
      : line.type === "limit" || lineId(line) === sk;
  return isOwn ? undefined : rowFault("", "not_allowed", "must be stored under its own id");
}

/** The id of a line within its type. */
function lineId(line: Exclude<ArchiveLine, LineOf<"limit">>): string {
  switch (line.type) {
    case "erasedLead":
      return line.leadId;
    case "leadImport":
      return line.sha256;
    default:
      return line.id;
  }
}

const nameFaults = (field: string, name: string | undefined) =>
  name === undefined || name === storedName(name)
    ? []
    : [rowFault(field, "invalid_format", "must be in lower case")];

/** The faults of an id, and of a creation time, which the id contains. */
function creationFaults(prefix: string, id: string, time: string, now: number): readonly RowFault[] {
  const faults = idFaults("id", id, prefix, now);
  return faults.length > 0 || createdAt(id) === time ? faults : [notTimeOfId];
}
