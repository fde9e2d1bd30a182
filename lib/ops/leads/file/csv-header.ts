import { metadata } from "../../../../shared/schemas/field-schemas.ts";
import { UserError } from "../../../user-error.ts";
import { shellWord } from "../../output/printed-text.ts";
import {
  addressesPrefix,
  columnsSentence,
  findColumn,
  findMeantColumn,
  fold,
  isJoined,
  metadataPrefix,
  namePartOrder,
  plainName,
} from "./column-names.ts";
import type { Column, CsvRecord, Header, Mapped } from "./file-parts.ts";

/** How the columns of a file are read. */
export interface HeaderOptions {
  /** Before what the names in the file say. */
  readonly map: readonly Mapped[];
  /** Whether to leave out the columns that leads do not have. */
  readonly ignoreOthers: boolean;
}

/** Which columns of leads those of a file are: what the operator says first, then their own names, then what others call them. */
class ColumnPlan {
  readonly names: readonly string[];
  readonly filled: ReadonlyMap<number, number>;
  readonly columns = new Map<number, readonly Column[]>();
  /** Which column of the file was the first to be one of leads. */
  readonly taken = new Map<string, number>();
  /** What is wrong with columns of the file. */
  readonly faults = new Map<number, string>();

  constructor(names: readonly string[], filled: ReadonlyMap<number, number>) {
    this.names = names;
    this.filled = filled;
  }

  /** The columns of the file that are nothing yet. */
  get others() {
    return this.names.flatMap((name, index) => (this.columns.has(index) ? [] : { name, index }));
  }

  /** Those of them that would be lost: first those with the most cells, and last the ids of other records. */
  get lost() {
    const isId = (name: string) => Number(/(?:^|[\s_.-])ids?$/i.test(name));
    return this.others
      .map((column) => ({ ...column, cells: this.filled.get(column.index) ?? 0 }))
      .filter(({ cells }) => cells > 0)
      .sort((a, b) => isId(a.name) - isId(b.name) || b.cells - a.cells);
  }

  #take(index: number, column: string, order = 0, mayJoin = isJoined(column)): void {
    const other = this.taken.get(column);
    if (other !== undefined && !mayJoin)
      this.faults.set(index, `is ${column}, as column ${other + 1}: rename one in the file, or --map it`);
    this.taken.set(column, other ?? index);
    this.columns.set(index, [...(this.columns.get(index) ?? []), { column, order }]);
  }

  /** @returns those that the file does not have */
  takeMapped(map: readonly Mapped[]): Mapped[] {
    const names = this.names.map(fold);
    return map.filter(({ from, column }, order) => {
      const exact = this.names.indexOf(from);
      const index = exact < 0 ? names.indexOf(fold(from)) : exact;
      if (index >= 0) this.#take(index, column, order);
      return index < 0;
    });
  }

  takeOwn(): void {
    const own = this.others;
    const isExport = own.some(({ name }) => name === "id");
    for (const { name, index } of own) {
      const column = findColumn(name);
      // An import does not read it, so that of another program would be lost.
      if (column && (column !== "updatedAt" || isExport)) this.#take(index, column, 0, false);
    }
    for (const [index, own] of this.columns)
      for (const { column } of own) {
        const [whole = ""] = column.split(".");
        if (column !== whole && this.taken.has(whole))
          this.faults.set(index, `stands in place of ${whole}: remove one`);
      }
  }

  /** Takes each column once, but the parts of a name, and all telephone numbers. */
  takeMeant(): void {
    const meant = Map.groupBy(this.others, ({ name }) => findMeantColumn(name) ?? "");
    for (const [column, all] of meant) {
      const isAddress = column.startsWith(addressesPrefix);
      if (column === "" || this.taken.has(isAddress ? "addresses" : column)) continue;
      const whole = all.filter(({ name }) => namePartOrder(name) === undefined);
      const isWhole = column === "name" ? whole.length > 0 : !isAddress;
      for (const { name, index } of isWhole ? whole.slice(0, 1) : all)
        this.#take(index, column, namePartOrder(name), true);
    }
  }
}

/** Whether the cells of a row may be the header of a file that has other lines before it. */
export const isHeader = (cells: readonly string[], { map }: HeaderOptions) =>
  cells
    .map((cell) => cell.trim())
    .filter(
      (name) =>
        findColumn(name) ?? (findMeantColumn(name) || map.some((each) => fold(each.from) === fold(name))),
    ).length > 1;

/**
 * Reads the header. Columns that are not known become metadata, as far as there is room.
 *
 * @param filled how many rows have a cell in each column
 * @throws UserError with all that is wrong with it
 */
export function readHeader(
  { width, cells, skipped = [] }: CsvRecord,
  filled: ReadonlyMap<number, number>,
  { map, ignoreOthers }: HeaderOptions,
): Header {
  const names = Array<string>(width).fill("");
  for (const [index, name] of cells) names[index] = name.trim();
  const plan = new ColumnPlan(names, filled);
  const missing = plan
    .takeMapped(map)
    .map(({ from, column }) => `The file has no column ${JSON.stringify(from)} for ${column}.`);
  plan.takeOwn();
  plan.takeMeant();
  const { columns, taken, faults } = plan;
  if (![...taken.keys()].some((column) => /^(?:name|id|externalId|addresses\b.*)$/.test(column)))
    missing.push('The column name is missing: --map "<name>=name" takes another, or joins several.');
  const lines = describe(plan);
  const proposed = ignoreOthers ? [] : propose(plan);
  plan.takeMapped(proposed);
  const leftOut = plan.lost.map(({ name, index }) => name || `column ${index + 1}`);
  const options = proposed.flatMap(({ from, column }) => ["--map", shellWord(`${from}=${column}`)]);
  if (leftOut.length > 0 && !ignoreOthers) options.push("--ignore-others");
  leftOut.unshift(...skipped.map((line) => `line ${line}`));
  if (missing.length === 0 && faults.size === 0) return { names, columns, options, leftOut, lines };
  if (options.length > 0) missing.push(`The others are taken, or left out, with ${options.join(" ")}`);
  throw new UserError(
    ["Nothing is stored, because of the header:", ...lines, ...missing, columnsSentence].join("\n"),
  );
}

/** What each of the first forty columns is. A JSON file can have thousands. */
const describe = ({ names, columns, faults }: ColumnPlan) =>
  names.slice(0, 40).map((name, index) => {
    const own = columns.get(index)?.map(({ column }) => column) ?? ["unknown"];
    const what = own[0] === name ? "known" : own.join(" and ");
    return `  ${index + 1}. ${JSON.stringify(name)} ${faults.get(index) ?? `is ${what}`}`;
  });

function propose({ lost, taken }: ColumnPlan): Mapped[] {
  if (taken.has("metadata")) return [];
  const used = new Set([...taken.keys()].filter((column) => column.startsWith(metadataPrefix)));
  return lost.flatMap(({ name }) => {
    const from = plainName(name);
    const entry = [...from.replaceAll("=", " ")].slice(0, metadata.propertyNames.maxLength).join("").trim();
    const column = `${metadataPrefix}${entry}`;
    if (!findColumn(column) || used.has(column) || used.size >= metadata.maxProperties) return [];
    used.add(column);
    return [{ from, column }];
  });
}
