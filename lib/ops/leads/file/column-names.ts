import { knownName } from "../../../../shared/http/nearest-name.ts";
import { type Lead, lead } from "../../../../shared/schemas/lead-schemas.ts";

/** The columns of a CSV file of leads, in the order of an export. */
export const columns = Object.keys(lead.properties) as readonly (keyof Lead)[];

/** What a column with one entry of the metadata begins with, and one with addresses of a channel. */
export const metadataPrefix = "metadata.";
export const addressesPrefix = "addresses.";

export const columnsSentence = `The columns are ${columns.join(", ")} or ${metadataPrefix}<name> in place of metadata, or ${addressesPrefix}<channel> in place of addresses.`;

/** A name as it can be typed in a terminal. */
export const plainName = (name: string) => name.replace(/[\s\p{Cc}\p{Cs}\p{Bidi_Control}]+/gu, " ").trim();

/** A name without what its spellings differ in: `External ID` is `externalId`. */
export const fold = (name: string) =>
  plainName(name)
    .toLowerCase()
    .replace(/[\s_-]/g, "");

/** The column of leads with a name, in any spelling, but `id`: other programs write `Id`. The API refuses `__proto__`, too. */
export const findColumn = (name: string) =>
  /^(?:metadata|addresses)\.(?!__proto__$)./i.test(name)
    ? name.replace(/^\w+/, (whole) => whole.toLowerCase())
    : columns.find((column) => column === name || (column !== "id" && fold(column) === fold(name)));

const meantColumns = ["name", "email", "source", "status", "tags", "externalId", "createdAt", "addresses"];

/** What a column is called after what a form asks, "What's your", or after the kind of record that it is of. */
const ownPart = (name: string) => name.replace(/^.*\byour |^(?:person|contact|lead) - /i, "");

/** The column of leads for which other programs have a name. */
export function findMeantColumn(name: string): string | undefined {
  const meant = knownName(ownPart(name), meantColumns);
  if (meant !== "addresses") return meant;
  const [channel = "phone"] = /whatsapp|instagram|sms/.exec(fold(name)) ?? [];
  return `${addressesPrefix}${channel}`;
}

/** Where a part of a name stands in it; undefined for another text. */
export function namePartOrder(name: string): number | undefined {
  const order = [/^(?:first|given|fore)name$/, /^(?:middle|additional)name$/, /^(?:last|family|sur)name$/];
  const found = order.findIndex((part) => part.test(fold(ownPart(name))));
  return found < 0 ? undefined : found;
}

/** Whether several columns of a file can be this one. */
export const isJoined = (column: string) => column === "name" || column.startsWith(addressesPrefix);
