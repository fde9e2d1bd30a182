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
import type { FileOptions } from "./file-options.ts";
import type { CsvRecord } from "./file-parts.ts";

/** Assigns a file's columns to columns of leads: by `--map`, then by exact names, then by the names of other programs. */
function planColumns(names: readonly string[], map: FileOptions["map"]) {
  /** The columns of leads for each column of the file, each with its place among the columns that are joined with it. */
  const columns = new Map<number, readonly { readonly column: string; readonly order: number }[]>();
  /** For each column of leads, the first column of the file that claimed it. */
  const taken = new Map<string, number>();
  /** The faults of columns of the file. */
  const faults = new Map<number, string>();
  const take = (index: number, column: string, order = 0, mayJoin = isJoined(column)) => {
    const other = taken.get(column);
    if (other !== undefined && !mayJoin)
      faults.set(
        index,
        `also means ${column}, like column ${other + 1}: rename one in the file, or --map it`,
      );
    taken.set(column, other ?? index);
    columns.set(index, [...(columns.get(index) ?? []), { column, order }]);
  };
  const missing = map.filter(({ from, column }, order) => {
    const exact = names.indexOf(from);
    const index = exact < 0 ? names.map(fold).indexOf(fold(from)) : exact;
    if (index >= 0) take(index, column, order);
    return index < 0;
  });
  const others = () => [...names.entries()].filter(([index]) => !columns.has(index));
  const isExport = others().some(([, name]) => name === "id");
  for (const [index, name] of others()) {
    const column = findColumn(name);
    // An import ignores `updatedAt`. The times of another program can become metadata, so that they are not lost.
    if (column && (column !== "updatedAt" || isExport)) take(index, column, 0, false);
  }
  for (const [index, own] of columns)
    for (const { column } of own) {
      const [whole = ""] = column.split(".");
      if (column !== whole && taken.has(whole))
        faults.set(index, `conflicts with the column ${whole}: remove one of them`);
    }
  for (const { index, name, column } of findMeant(others(), taken))
    take(index, column, namePartOrder(name), true);
  return { columns, taken, faults, missing };
}

/** Finds columns whose names in other programs mean unclaimed columns: the first of each, but all name parts and numbers. */
function findMeant(others: readonly [number, string][], taken: ReadonlyMap<string, number>) {
  const meant = Map.groupBy(others, ([, name]) => findMeantColumn(name) ?? "");
  return [...meant].flatMap(([column, all]) => {
    const isAddress = column.startsWith(addressesPrefix);
    if (column === "" || taken.has(isAddress ? "addresses" : column)) return [];
    const whole = all.filter(([, name]) => namePartOrder(name) === undefined);
    const isWhole = column === "name" ? whole.length > 0 : !isAddress;
    return (isWhole ? whole.slice(0, 1) : all).map(([index, name]) => ({ index, name, column }));
  });
}

/** Whether the cells of a row may be the header of a file that has other lines before it. */
export const isHeader = (cells: readonly string[], { map }: Pick<FileOptions, "map">) =>
  cells
    .map((cell) => cell.trim())
    .filter(
      (name) =>
        findColumn(name) ?? (findMeantColumn(name) || map.some((each) => fold(each.from) === fold(name))),
    ).length > 1;

/**
 * Reads the header. Unknown columns are proposed as metadata, as far as there is room.
 *
 * @param filled the columns in which a row has a cell
 * @throws UserError with all faults of the header
 */
export function readHeader(
  { width, cells, skipped = [] }: CsvRecord,
  filled: ReadonlySet<number>,
  { map, ignoreOthers }: FileOptions,
) {
  const names = Array<string>(width).fill("");
  for (const [index, name] of cells) names[index] = name.trim();
  const plan = planColumns(names, map);
  const { columns, taken, faults } = plan;
  const wrong = plan.missing.map(
    ({ from, column }) => `The file has no column ${JSON.stringify(from)} for ${column}.`,
  );
  if (![...taken.keys()].some((column) => /^(?:name|id|externalId|addresses\b.*)$/.test(column)))
    wrong.push(
      'The column name is missing: with --map "<name>=name", another column takes its place, or several are joined.',
    );
  const lines = describe(names, plan);
  // The columns that would be lost.
  const lost = names
    .map((name, index) => ({ name, index }))
    .filter(({ index }) => filled.has(index) && !columns.has(index));
  const proposed = ignoreOthers ? [] : propose(lost, taken);
  for (const { index, column } of proposed) columns.set(index, [{ column, order: 0 }]);
  const leftOut = lost
    .filter(({ index }) => !columns.has(index))
    .map(({ name, index }) => name || `column ${index + 1}`);
  const options = proposed.flatMap(({ from, column }) => ["--map", shellWord(`${from}=${column}`)]);
  if (leftOut.length > 0 && !ignoreOthers) options.push("--ignore-others");
  leftOut.unshift(...skipped.map((line) => `line ${line}`));
  if (wrong.length === 0 && faults.size === 0) return { names, columns, options, leftOut, lines };
  if (options.length > 0) wrong.push(`To keep or leave out the other columns, add ${options.join(" ")}`);
  throw new UserError(
    ["Nothing is stored, because of faults in the header:", ...lines, ...wrong, columnsSentence].join("\n"),
  );
}

/** Describes each of the first forty columns. A JSON file can have thousands. */
const describe = (names: readonly string[], { columns, faults }: ReturnType<typeof planColumns>) =>
  names.slice(0, 40).map((name, index) => {
    const own = columns.get(index)?.map(({ column }) => column) ?? ["unknown"];
    const what = own[0] === name ? "known" : own.join(" and ");
    return `  ${index + 1}. ${JSON.stringify(name)} ${faults.get(index) ?? `is ${what}`}`;
  });

function propose(lost: readonly { index: number; name: string }[], taken: ReadonlyMap<string, number>) {
  if (taken.has("metadata")) return [];
  const used = new Set([...taken.keys()].filter((column) => column.startsWith(metadataPrefix)));
  return lost.flatMap(({ name, index }) => {
    const from = plainName(name);
    const entry = [...from.replaceAll("=", " ")].slice(0, metadata.propertyNames.maxLength).join("").trim();
    const column = `${metadataPrefix}${entry}`;
    if (!findColumn(column) || used.has(column) || used.size >= metadata.maxProperties) return [];
    used.add(column);
    return [{ index, from, column }];
  });
}

export type Header = ReturnType<typeof readHeader>;
