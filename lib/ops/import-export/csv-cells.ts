import { type Lead, lead } from "../../../shared/schemas/lead-schemas.ts";

/** The columns of a CSV file of leads, in the order of an export. */
export const columns = Object.keys(lead.properties) as readonly (keyof Lead)[];

/** Converts the cells of a row to a lead's fields. Empty cells are left out; an invalid number stays text, for the check. */
export function toFields(header: readonly string[], cells: readonly (string | undefined)[]) {
  const filled = header
    .map((column, i) => [column, cells[i] ?? ""] as const)
    .filter(([, cell]) => cell !== "");
  return Object.fromEntries(filled.map(([column, cell]) => [column, toField(column, cell)]));
}

function toField(column: string, cell: string): unknown {
  if (column === "tags") return parseTags(cell);
  if (column === "score" && /^\d{1,3}$/.test(cell)) return Number(cell);
  return cell;
}

/** Parses tags: `a;b`, or JSON, which starts with `[`. */
function parseTags(cell: string): unknown {
  if (!cell.startsWith("[")) return cell.split(";");
  try {
    return JSON.parse(cell);
  } catch {
    return cell;
  }
}

/** Converts a lead to cells in the order of `columns`, which an import converts back to the same lead. */
export const toCells = (record: Lead): string[] =>
  columns.map((column) => (column === "tags" ? formatTags(record.tags) : String(record[column] ?? "")));

function formatTags(tags: readonly string[]): string {
  const plain = tags.join(";");
  const parsable = !plain.startsWith("[") && !tags.some((tag) => tag.includes(";"));
  return parsable ? plain : JSON.stringify(tags);
}
