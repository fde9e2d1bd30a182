import { type Command, InvalidArgumentError } from "commander";
import { clockOf } from "./creation-time.ts";
import { columnsSentence, findColumn, type Mapped } from "./csv-header.ts";

/** Adds the options that tell how a file is read. */
export const withFileOptions = (command: Command) =>
  command
    .option("--map <name=column>", "which column a column of the file is; repeatable", parseMapped, [])
    .option("--ignore-others", "leave out the columns that leads do not have", false)
    .option("--encoding <name>", "of a text that is not UTF-8 or UTF-16, such as windows-1252")
    .option("--time-zone <name>", "of dates and times without one, such as Europe/Berlin", parseTimeZone)
    .option("--null <text>", "what stands for an empty cell, such as NULL; repeatable", collect, [])
    .option("--tags-separator <text>", "what separates tags, in place of a semicolon");

const collect = (text: string, others: readonly string[]) => [...others, text];

function parseMapped(text: string, others: readonly Mapped[]): readonly Mapped[] {
  const end = text.lastIndexOf("=");
  const column = findColumn(text.slice(end + 1));
  if (end > 0 && column !== undefined) return [...others, { from: text.slice(0, end).trim(), column }];
  throw new InvalidArgumentError(`Write "<name in the file>=<column>". ${columnsSentence}`);
}

function parseTimeZone(text: string) {
  try {
    return clockOf(text);
  } catch {
    throw new InvalidArgumentError("It is one of the IANA database, such as Europe/Berlin.");
  }
}
