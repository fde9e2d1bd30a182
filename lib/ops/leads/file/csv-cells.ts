import { isDeepStrictEqual } from "node:util";
import { stringify } from "csv-stringify/sync";
import { parseJson } from "../../../../shared/json.ts";
import type { Lead } from "../../../../shared/schemas/lead-schemas.ts";
import { addressesPrefix, columns, metadataPrefix } from "./column-names.ts";
import { parseTime, toIsoForm } from "./creation-time.ts";
import type { Header } from "./csv-header.ts";
import type { FileOptions } from "./file-options.ts";
import type { Cell } from "./file-parts.ts";

/**
 * A cell that a spreadsheet takes for a formula, behind any number of quotes.
 *
 * @see https://owasp.org/www-community/attacks/CSV_Injection
 */
const quotedFormula = /^('*)[=+\-@\t\r\n\uff1d\uff0b\uff0d\uff20]/;

/**
 * Formats leads as rows of CSV (RFC 4180), in the order of `columns`. Importing them gives the same leads.
 *
 * A cell that is a formula, also after quotes, gets a leading quote (`'`), which an import removes.
 */
export const formatCsv = (leads: readonly Lead[], header = false) =>
  stringify([...(header ? [columns] : []), ...leads.map((record) => toCells(record).map(escapeCell))], {
    record_delimiter: "windows",
    quoted_match: /[\r\n]/,
  });

const escapeCell = (cell: string) => (quotedFormula.test(cell) ? `'${cell}` : cell);

/** Removes the quote before a formula, which an export or a spreadsheet's user has added. */
export const unescapeCell = (cell: string) => (quotedFormula.exec(cell)?.[1] ? cell.slice(1) : cell);

/**
 * Converts the cells of a row to a lead's fields. An invalid number stays text, which the validation rejects. The texts of
 * several name columns are joined. Each column of a channel adds its addresses.
 */
export function toFields({ columns }: Header, cells: readonly Cell[], options: FileOptions) {
  const filled = cells
    .filter(([, cell]) => cell !== "" && options.mapValue.get(cell.toLowerCase()) !== "")
    .flatMap(([index, cell]) => (columns.get(index) ?? []).map((each) => ({ ...each, cell })))
    .sort((a, b) => a.order - b.order);
  const partsOf = (prefix: string) =>
    filled
      .filter(({ column }) => column.startsWith(prefix))
      .map(({ column, cell }) => [column.slice(prefix.length), cell] as const);
  const entries = partsOf(metadataPrefix);
  const addresses = Map.groupBy(partsOf(addressesPrefix), ([channel]) => channel);
  const names = filled.filter(({ column }) => column === "name").map(({ cell }) => cell);
  return Object.fromEntries([
    ...filled
      .filter(({ column }) => !column.includes("."))
      .map(({ column, cell }) => [column, toField(column, cell, options)]),
    ...(names.length > 0 ? [["name", names.join(" ")]] : []),
    ...(entries.length > 0 ? [["metadata", Object.fromEntries(entries)]] : []),
    ...(addresses.size > 0 ? [["addresses", Object.fromEntries(Array.from(addresses, toList))]] : []),
  ]);
}

/** Facebook puts `p:` before telephone numbers. People write `-` for no number. */
const toList = ([channel, cells]: readonly [string, readonly (readonly [string, string])[]]) => [
  channel,
  cells.flatMap(([, cell]) =>
    cell
      .split(/;| ::: /)
      .flatMap((text) => (/[\p{L}\p{N}]/u.test(text) ? text.trim().replace(/^p:(?=\+)/, "") : [])),
  ),
];

function toField(column: string, cell: string, { mapValue, dateFormat, timeZone }: FileOptions): unknown {
  if (column === "tags") return parseTags(cell);
  if (column === "metadata" || column === "addresses") return parseJson(cell) ?? cell;
  if (column === "status") return mapValue.get(cell.toLowerCase()) ?? cell.toLowerCase();
  if (column === "score" && /^\d{1,3}$/.test(cell)) return Number(cell);
  if (column !== "createdAt") return cell;
  const text = toIsoForm(cell, dateFormat);
  const time = parseTime(text, timeZone);
  return time === undefined ? text : new Date(time).toISOString();
}

/** The separators of tags. Only the first of these that a cell contains separates its tags. */
const tagSeparators = [" ::: ", ";", "|", ","];

/** Parses tags: JSON, which starts with `[`, or separated texts. If the first text is quoted, others can also be quoted. */
function parseTags(cell: string): unknown {
  if (cell.startsWith("[")) return parseJson(cell) ?? cell;
  // The texts between quotes have odd indexes.
  const parts = cell.startsWith('"') ? cell.split(/"([^"]*)"/) : [cell];
  const separator = tagSeparators.find((each) => parts.some((part, i) => i % 2 === 0 && part.includes(each)));
  const texts = parts.flatMap((part, i) => (i % 2 === 0 && separator ? part.split(separator) : part));
  return texts.flatMap((tag) => tag.trim() || []);
}

const toCells = (record: Lead): string[] =>
  columns.map((column) => {
    const { [column]: value = "" } = record;
    if (typeof value !== "object") return String(value);
    return Array.isArray(value) ? formatTags(value) : JSON.stringify(value);
  });

function formatTags(tags: readonly string[]): string {
  const plain = tags.join(";");
  return isDeepStrictEqual(parseTags(plain), tags) ? plain : JSON.stringify(tags);
}
