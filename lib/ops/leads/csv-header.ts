import { UserError } from "../../user-error.ts";
import { shellWord } from "../output/printed-text.ts";
import { addressesPrefix, columns, type Header, metadataPrefix } from "./csv-cells.ts";

/** Which column of leads a column of the file is. */
export interface Mapped {
  readonly from: string;
  readonly column: string;
}

/** How the columns of a file are read. */
export interface HeaderOptions {
  /** Before what the names in the file say. */
  readonly map: readonly Mapped[];
  /** Whether to leave out the columns that leads do not have. */
  readonly ignoreOthers: boolean;
}

export const columnsSentence = `The columns are ${columns.join(", ")} or ${metadataPrefix}<name> in place of metadata, or ${addressesPrefix}<channel> in place of addresses.`;

/** A name without what its spellings differ in: `External ID` is `externalId`. */
const fold = (name: string) => name.toLowerCase().replace(/[\s_-]/g, "");

/** The column of leads with a name, in any spelling. The API refuses the one name that JavaScript reserves, too. */
export const findColumn = (name: string) =>
  /^(?:metadata|addresses)\.(?!__proto__$)./i.test(name)
    ? name.replace(/^\w+/, (whole) => whole.toLowerCase())
    : columns.find((column) => fold(column) === fold(name));

/** Reads the first row. @throws UserError with all that is wrong with it */
export function readHeader(cells: readonly string[], { map, ignoreOthers }: HeaderOptions): Header {
  const names = cells.map((cell) => cell.trim());
  const found = names.map((name, index) => {
    const order = map.findIndex(({ from }) => from === name);
    return { name, index, order, column: map[order]?.column ?? findColumn(name) };
  });
  const has = (column: string) => found.some((each) => each.column === column);
  const faults = found.map(({ name, index, order, column = "" }) => {
    const isJoined = (column === "name" || column.startsWith(addressesPrefix)) && order >= 0;
    const other = found.findIndex((each) => each.column === column);
    if (column !== "" && other < index && !isJoined)
      return `is ${column}, as column ${other + 1}: rename one in the file, or --map it`;
    const [whole = ""] = column.split(".");
    if (column !== whole && has(whole)) return `stands in place of ${whole}: remove one`;
    if (column !== "" || ignoreOthers) return undefined;
    if (name === "") return "has no name: give it one, or leave it out with --ignore-others";
    const keep = shellWord(`${name}=${metadataPrefix}${name}`);
    return `is unknown: --ignore-others leaves it out, --map ${keep} keeps it`;
  });
  const missing = map
    .filter(({ from }) => !names.includes(from))
    .map(({ from, column }) => `The file has no column ${JSON.stringify(from)} for ${column}.`);
  if (
    !has("name") &&
    !["id", "externalId"].some(has) &&
    !found.some(({ column = "" }) => column.startsWith("addresses"))
  )
    missing.push('The column name is missing: --map "<name>=name" takes another, or joins several.');
  if (missing.length === 0 && faults.every((fault) => fault === undefined))
    return found
      .sort((a, b) => a.order - b.order)
      .flatMap(({ column, index }) => (column === undefined ? [] : [{ column, index }]));
  const lines = found.map(({ name, index, column = "left out" }) => {
    const fault = faults[index] ?? (name === column ? "is known" : `is ${column}`);
    return `  ${index + 1}. ${JSON.stringify(name)} ${fault}`;
  });
  throw new UserError(
    ["Nothing is stored, because of the header:", ...lines, ...missing, columnsSentence].join("\n"),
  );
}
