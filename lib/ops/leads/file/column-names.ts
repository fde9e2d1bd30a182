import { knownName } from "../../../../shared/http/known-name.ts";
import { type Lead, lead } from "../../../../shared/schemas/lead-schemas.ts";

/** The columns of a CSV file of leads, in the order of an export. */
export const columns = Object.keys(lead.properties) as readonly (keyof Lead)[];

/** The prefixes of columns with one entry of the metadata, and with the addresses of one channel. */
export const metadataPrefix = "metadata.";
export const addressesPrefix = "addresses.";

export const columnsSentence = `The columns are ${columns.join(", ")} or ${metadataPrefix}<name> in place of metadata, or ${addressesPrefix}<channel> in place of addresses.`;

/** A name as it can be typed in a terminal. */
export const plainName = (name: string) => name.replace(/[\s\p{Cc}\p{Cs}\p{Bidi_Control}]+/gu, " ").trim();

/** A name in a form in which its spellings are equal: `External ID` and `externalId`. */
export const fold = (name: string) =>
  plainName(name)
    .toLowerCase()
    .replace(/[\s_-]/g, "");

/** The column of leads with a name, in any spelling except of `id`: others write `Id`. The API also rejects `__proto__`. */
export const findColumn = (name: string) =>
  /^(?:metadata|addresses)\.(?!__proto__$)./i.test(name)
    ? name.replace(/^\w+/, (whole) => whole.toLowerCase())
    : columns.find((column) => column === name || (column !== "id" && fold(column) === fold(name)));

const meantColumns = ["name", "email", "source", "status", "tags", "externalId", "createdAt", "addresses"];

/** A column's name without a form's question ("What's your") or the kind of record ("Person - ") before it. */
const ownPart = (name: string) => name.replace(/^.*\byour |^(?:person|contact|lead) - /i, "");

/** The column of leads that a name of another program means. */
export function findMeantColumn(name: string): string | undefined {
  const meant = knownName(ownPart(name), meantColumns);
  if (meant !== "addresses") return meant;
  const [channel = "phone"] = /whatsapp|instagram|sms/.exec(fold(name)) ?? [];
  return `${addressesPrefix}${channel}`;
}

/** The place of a column such as `First name` in the name of a person; undefined for any other column. */
export function namePartOrder(name: string): number | undefined {
  const order = [/^(?:first|given|fore)name$/, /^(?:middle|additional)name$/, /^(?:last|family|sur)name$/];
  const found = order.findIndex((part) => part.test(fold(ownPart(name))));
  return found < 0 ? undefined : found;
}

/** Whether several columns of a file can be joined to this column of leads. */
export const isJoined = (column: string) => column === "name" || column.startsWith(addressesPrefix);
