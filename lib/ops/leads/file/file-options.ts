import { type Command, InvalidArgumentError } from "commander";
import { IANAZone } from "luxon";
import { leadStatuses } from "../../../../shared/schemas/lead-schemas.ts";
import { parseText } from "../../command/command.ts";
import { columnsSentence, findColumn } from "./column-names.ts";
import { formatTokens } from "./creation-time.ts";

/** How a file is read. */
export interface FileOptions {
  /** The columns of leads for columns of the file, which take precedence over the names in the file. */
  readonly map: readonly { readonly from: string; readonly column: string }[];
  readonly ignoreOthers: boolean;
  /** The status that a text in lower case means. An empty status makes the text an empty cell in any column. */
  readonly mapValue: ReadonlyMap<string, string>;
  /** A label of the Encoding Standard. By default, the file's bytes decide. */
  readonly encoding?: string;
  /** The form of times that are not in ISO 8601, in the tokens of Luxon. */
  readonly dateFormat?: string;
  readonly timeZone?: string;
}

export const withFileOptions = (command: Command) =>
  command
    .option(
      "--map <name=column>",
      "the column of leads for a column of the file; repeatable",
      parseMapped,
      [],
    )
    .option("--ignore-others", "leave out the columns that leads do not have", false)
    .option(
      "--map-value <text=status>",
      "the status that a text of the file means; with none (NULL=), cells with the text count as empty; repeatable",
      parseValue,
      new Map(),
    )
    .option(
      "--encoding <name>",
      "the encoding of a file that is not in UTF-8 or UTF-16, such as windows-1252",
      parseEncoding,
    )
    .option(
      "--date-format <format>",
      "the format of times that are not in ISO 8601, such as 'd/M/yyyy HH:mm'",
      // Luxon takes the missing parts of a date from today.
      parseText(
        (text) => formatTokens(text).includes("y"),
        "The format must have a year (y), as in 'd/M/yyyy HH:mm'.",
      ),
    )
    .option(
      "--time-zone <name>",
      "the time zone of dates and times that have none, such as Europe/Berlin",
      parseText(IANAZone.isValidZone, "A time zone is a name of the IANA database, such as Europe/Berlin."),
    );

function parseEncoding(name: string): string {
  try {
    new TextDecoder(name);
    return name;
  } catch {
    throw new InvalidArgumentError(
      "Write a name of the Encoding Standard, such as windows-1252 or macintosh.",
    );
  }
}

function parseMapped(text: string, others: FileOptions["map"]): FileOptions["map"] {
  const end = text.lastIndexOf("=");
  const column = findColumn(text.slice(end + 1));
  if (end > 0 && column !== undefined) return [...others, { from: text.slice(0, end).trim(), column }];
  throw new InvalidArgumentError(`Write "<name in the file>=<column>". ${columnsSentence}`);
}

function parseValue(text: string, others: ReadonlyMap<string, string>): ReadonlyMap<string, string> {
  const end = text.lastIndexOf("=");
  const value = text.slice(end + 1);
  if (end > 0 && ["", ...leadStatuses].includes(value))
    return new Map([...others, [text.slice(0, end).trim().toLowerCase(), value]]);
  throw new InvalidArgumentError(
    `Write "<text in the file>=<status>": ${leadStatuses.join(", ")}, or nothing.`,
  );
}
