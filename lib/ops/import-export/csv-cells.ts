import { type Lead, lead } from "../../../shared/schemas/lead-schemas.ts";

/** The columns of a CSV file of leads, in the order in which an export has them. */
export const columns = Object.keys(lead.properties) as readonly (keyof Lead)[];

/** A lead's fields by the cells of its row; an empty cell is none. What is no number stays text, to be found fault with. */
export function toFields(header: readonly string[], cells: readonly string[]): Record<string, unknown> {
  const given = header
    .map((column, i) => [column, cells[i] ?? ""] as const)
    .filter(([, cell]) => cell !== "");
  return Object.fromEntries(given.map(([column, cell]) => [column, toField(column, cell)]));
}

function toField(column: string, cell: string): unknown {
  if (column === "tags") return parseTags(cell);
  if (column === "score" && /^\d{1,3}$/.test(cell)) return Number(cell);
  return cell;
}

/** Tags are written `a;b`, or as JSON, which begins with `[`. */
function parseTags(cell: string): unknown {
  if (!cell.startsWith("[")) return cell.split(";");
  try {
    return JSON.parse(cell);
  } catch {
    return cell;
  }
}

/** The cells of a lead, in the order of `columns`, from which an import makes the same lead. */
export const toCells = (record: Lead): string[] =>
  columns.map((column) => (column === "tags" ? tagsCell(record.tags) : String(record[column] ?? "")));

function tagsCell(tags: readonly string[]): string {
  const plain = tags.join(";");
  const readable = !plain.startsWith("[") && !tags.some((tag) => tag.includes(";"));
  return readable ? plain : JSON.stringify(tags);
}
