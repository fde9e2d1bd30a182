import { stringify } from "csv-stringify/sync";
import { type Lead, lead } from "../../../shared/schemas/lead-schemas.ts";
import { parseJson } from "../../json.ts";
import { parseTime } from "./creation-time.ts";

/** The columns of a CSV file of leads, in the order of an export. */
export const columns = Object.keys(lead.properties) as readonly (keyof Lead)[];

/** The columns of leads in a file, each with its place in the rows. */
export type Header = readonly { readonly column: string; readonly index: number }[];

/**
 * A cell that a spreadsheet takes for a formula, behind any number of quotes.
 *
 * @see https://owasp.org/www-community/attacks/CSV_Injection
 */
const quotedFormula = /^('*)[=+\-@\t\r\n\uff1d\uff0b\uff0d\uff20]/;

/**
 * Formats leads as rows of CSV (RFC 4180), in the order of `columns`. Importing them gives the same leads.
 *
 * Cells that are formulas, also behind quotes, get a quote, `'`, which an import removes.
 */
export const formatCsv = (leads: readonly Lead[]) =>
  formatRows(leads.map((record) => toCells(record).map(escapeCell)));

/** The first row of a CSV file of leads. */
export const formatCsvHeader = () => formatRows([columns]);

const formatRows = (rows: readonly (readonly string[])[]) =>
  stringify([...rows], { record_delimiter: "windows", quoted_match: /[\r\n]/ });

const escapeCell = (cell: string) => (quotedFormula.test(cell) ? `'${cell}` : cell);

/** Removes the quote before a formula: that of an export, or of a spreadsheet's user. */
const unescapeCell = (cell: string) => (quotedFormula.exec(cell)?.[1] ? cell.slice(1) : cell);

/** What a column with one entry of the metadata begins with, and one with addresses of a channel. */
export const metadataPrefix = "metadata.";
export const addressesPrefix = "addresses.";

/** How cells are read. */
export interface CellOptions {
  /** The texts that stand for an empty cell. */
  readonly null: readonly string[];
  /** In place of `;`. Blanks around tags do not belong to them then. */
  readonly tagsSeparator?: string;
  /** The clock of times without an offset. */
  readonly timeZone?: Intl.DateTimeFormat;
}

/**
 * Converts the cells of a row to a lead's fields. Empty cells are left out; an invalid number stays text, for the check. Of
 * several columns of names, the texts are joined; several of a channel have an address each.
 */
export function toFields(header: Header, cells: readonly string[], options: CellOptions) {
  const filled = header
    .filter(({ index }) => !options.null.includes(cells[index] ?? ""))
    .map(({ column, index }) => [column, unescapeCell(cells[index] ?? "")] as const)
    .filter(([, cell]) => cell !== "");
  const isPart = ([column]: readonly [string, string]) => column.includes(".");
  const partsOf = (prefix: string) =>
    filled
      .filter(([column]) => column.startsWith(prefix))
      .map(([column, cell]) => [column.slice(prefix.length), cell] as const);
  const entries = partsOf(metadataPrefix);
  const addresses = Map.groupBy(partsOf(addressesPrefix), ([channel]) => channel);
  const names = filled.filter(([column]) => column === "name").map(([, cell]) => cell);
  return Object.fromEntries([
    ...filled
      .filter((each) => !isPart(each))
      .map(([column, cell]) => [column, toField(column, cell, options)]),
    ...(names.length > 0 ? [["name", names.join(" ")]] : []),
    ...(entries.length > 0 ? [["metadata", Object.fromEntries(entries)]] : []),
    ...(addresses.size > 0 ? [["addresses", Object.fromEntries(Array.from(addresses, toList))]] : []),
  ]);
}

const toList = ([channel, cells]: readonly [string, readonly (readonly [string, string])[]]) => [
  channel,
  cells.flatMap(([, cell]) => cell.split(";").flatMap((address) => address.trim() || [])),
];

function toField(column: string, cell: string, { tagsSeparator, timeZone }: CellOptions): unknown {
  if (column === "tags") return parseTags(cell, tagsSeparator);
  if (column === "metadata" || column === "addresses") return parseJson(cell) ?? cell;
  if (column === "status") return cell.trim().toLowerCase();
  if (column === "score" && /^\d{1,3}$/.test(cell)) return Number(cell);
  const time = column === "createdAt" ? parseTime(cell, timeZone) : undefined;
  return time === undefined ? cell : new Date(time).toISOString();
}

/** Parses tags: `a;b`, or JSON, which starts with `[`. */
function parseTags(cell: string, separator?: string): unknown {
  if (cell.startsWith("[")) return parseJson(cell) ?? cell;
  if (separator === undefined) return cell.split(";");
  return cell.split(separator).flatMap((tag) => tag.trim() || []);
}

const toCells = (record: Lead): string[] =>
  columns.map((column) => {
    const { [column]: value = "" } = record;
    if (typeof value !== "object") return String(value);
    return Array.isArray(value) ? formatTags(value) : JSON.stringify(value);
  });

function formatTags(tags: readonly string[]): string {
  const plain = tags.join(";");
  const parsable = !plain.startsWith("[") && !tags.some((tag) => tag.includes(";"));
  return parsable ? plain : JSON.stringify(tags);
}
