import { UserError } from "../../user-error.ts";
import { shellWord } from "../output/printed-text.ts";
import { columns, type Header, metadataPrefix } from "./csv-cells.ts";

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

export const columnsSentence = `The columns are ${columns.join(", ")} or ${metadataPrefix}<name> in place of metadata.`;

/** A name without what its spellings differ in: `External ID` is `externalId`. */
const fold = (name: string) =>
  name
    .normalize("NFKC")
    .toLowerCase()
    .replace(/[\s_-]/g, "");

/** The column of leads with a name, in any spelling. */
export const findColumn = (name: string) =>
  /^metadata\../i.test(name)
    ? metadataPrefix + name.slice(metadataPrefix.length)
    : columns.find((column) => fold(column) === fold(name));

/** Reads the first row. @throws UserError with all that is wrong with it */
export function readHeader(names: readonly string[], { map, ignoreOthers }: HeaderOptions): Header {
  const found = names.map((name, index) => {
    const order = map.findIndex(({ from }) => from === name.trim());
    return { name, index, order, column: map[order]?.column ?? findColumn(name) };
  });
  const has = (column: string) => found.some((each) => each.column === column);
  const faultOf = ({ name, index, order, column }: (typeof found)[number]) => {
    if (column === undefined) {
      if (ignoreOthers) return undefined;
      if (name.trim() === "") return "has no name: give it one, or leave it out with --ignore-others";
      return `is unknown: --ignore-others leaves it out, --map ${shellWord(`${name.trim()}=${metadataPrefix}${name.trim()}`)} keeps it`;
    }
    const other = found.findLast((each) => each.column === column && each.index < index);
    if (other && !(column === "name" && order >= 0))
      return `is ${column}, as column ${other.index + 1}: rename one in the file, or --map it`;
    if (column.startsWith(metadataPrefix) && has("metadata"))
      return "stands in place of metadata: remove one";
    return undefined;
  };
  const faults = found.map(faultOf);
  const others = [
    ...map.flatMap(({ from, column }) =>
      names.some((name) => name.trim() === from)
        ? []
        : [`The file has no column ${JSON.stringify(from)} for ${column}.`],
    ),
    ...(has("name") || has("externalId")
      ? []
      : [
          'The column name is missing: --map "<column>=name" takes another; of several, the texts are joined.',
        ]),
  ];
  if (others.length > 0 || faults.some(Boolean)) {
    const lines = found.map(({ name, column }, i) => {
      const known = name === column ? "is known" : `is ${column ?? "left out"}`;
      return `  ${i + 1}. ${JSON.stringify(name)} ${faults[i] ?? known}`;
    });
    throw new UserError(
      ["Nothing is stored, because of the header:", ...lines, ...others, columnsSentence].join("\n"),
    );
  }
  return found
    .sort((a, b) => a.order - b.order)
    .flatMap(({ column, index }) => (column === undefined ? [] : [{ column, index }]));
}
