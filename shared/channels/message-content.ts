import { notBlank } from "../normalize-label.ts";
import { hasTooMuch } from "../schemas/field-schemas.ts";

/** An object in a webhook from Meta, whose values can have any form. */
export type Fields = Readonly<Record<string, unknown>>;

export const toFields = (value: unknown): Fields =>
  typeof value === "object" && value !== null ? (value as Fields) : {};
export const isFilled = (value: unknown): value is string => typeof value === "string" && value !== "";

/** The stored form of a text from Meta: without control characters, not blank, and ending with … if it was too long. */
export function toText(text: string, length: number, instead: string): string {
  const shown = text.toWellFormed().replaceAll(/(?![\t\n\r])\p{Cc}/gu, " ");
  const all = [...shown.trim()];
  const cut = all.length > length ? `${all.slice(0, length - 1).join("")}…` : all.join("");
  return notBlank.test(cut) ? cut : instead;
}

export interface Content {
  /** The text, or for another kind of message a line that begins with the kind. */
  readonly text: string;
  /** Meta's id, the time of sending, the kind if it is not text, and Meta's other values, as far as they fit. */
  readonly metadata: Readonly<Record<string, string>>;
}

/** A text, a number or a boolean, and where it stands, such as `location.latitude`. */
type Value = readonly [path: string, value: string];

/** The paths of values that a person wrote or chose. */
const written = /(?:^|\.)(?:body|text|title|caption|emoji)$/;

/** The paths of values that describe a message without a text. The first pattern that matches a value is used. */
const labels = [/(?:^|\.)(?:name|address|formatted_name|filename)$/, /\.(?:latitude|longitude)$/];

/** The paths of values that are left out first. */
const minor = /(?:url|sha256|mime_type|(?:^|\.)(?:from|type|first_name|last_name))$/;

/**
 * Reads the content of a message of any kind.
 *
 * @param part the values of its kind
 * @param others the values that every kind can have, such as the quoted message
 */
export function readContent(
  { id, sentAt, type }: { id: string; sentAt: string; type: string },
  part: Fields,
  others: Fields,
): Content {
  const own = flatten(part);
  const main = own.find(([path]) => written.test(path));
  const isWritten = main && (["text", "button"].includes(type) || main[0].endsWith("_reply.title"));
  const named = labels.map((label) => own.filter(([path]) => label.test(path)));
  const shown = main ? [main] : named.find(({ length }) => length > 0);
  const line = (shown ?? []).map(([, value]) => value).join(", ");
  const more = [...flatten(others), ...own.filter((value) => value !== main)]
    .filter(([path, value]) => !(path.endsWith("type") && value === type))
    .map(([path, value]): Value => [path === `${type}.id` ? "mediaId" : path, value])
    .toSorted(([a], [b]) => rank(a) - rank(b));
  return {
    text: isWritten ? line : `[${type}] ${line}`.trimEnd(),
    metadata: fit([["id", id], ["sentAt", sentAt], ["type", isWritten ? "" : type], ...more]),
  };
}

const rank = (path: string) => (path === "mediaId" ? 0 : minor.test(path) ? 2 : 1);

/** A time from Meta as a timestamp; empty if it is invalid. @param unit the unit of the time, in milliseconds */
export function toTime(time: unknown, unit: number): string {
  const at = typeof time === "string" || typeof time === "number" ? Number(time) * unit : 0;
  return at > 0 && at < 8.64e15 ? new Date(at).toISOString() : "";
}

/** The values of an object with their paths. */
function flatten(value: unknown, path = ""): Value[] {
  if (["string", "number", "boolean"].includes(typeof value)) return [[path, String(value)]];
  return Object.entries(toFields(value)).flatMap(([name, part]) =>
    flatten(part, path === "" ? name : `${path}.${name}`),
  );
}

/** The values that metadata has room for, each named by the longest end of its path that fits. `more` counts the rest. */
function fit(values: readonly Value[]): Content["metadata"] {
  let kept: Content["metadata"] = {};
  let left = 0;
  for (const [path, value] of values) {
    const text = toText(value, 1024, "");
    const [, name = ""] = /(?:^|\.)([!-~]{1,40})$/.exec(path) ?? [];
    const next = { ...kept, [name]: text };
    if (text === "") continue;
    if (name === "" || Object.hasOwn(kept, name) || hasTooMuch({ ...next, more: `${values.length}` })) left++;
    else kept = next;
  }
  return left > 0 ? { ...kept, more: `${left}` } : kept;
}
