import { type Command, InvalidArgumentError } from "commander";
import { clockOf } from "./creation-time.ts";
import { columnsSentence, findColumn, type Mapped } from "./csv-header.ts";

/** Adds the options that tell how a file is read. */
export const withFileOptions = (command: Command) =>
  command
    .option("--map <name=column>", "which column a column of the file is; repeatable", parseMapped, [])
    .option("--ignore-others", "leave out the columns that leads do not have", false)
    .option("--encoding <name>", "of a text that is not UTF-8 or UTF-16, such as windows-1252", parseEncoding)
    .option("--time-zone <name>", "of dates and times without one, such as Europe/Berlin", parseTimeZone)
    .option("--null <text>", "what stands for an empty cell, such as NULL; repeatable", collect, [])
    .option("--tags-separator <text>", "what separates tags, in place of a semicolon");

const collect = (text: string, others: readonly string[]) => [...others, text];

function parseMapped(text: string, others: readonly Mapped[]): readonly Mapped[] {
  const end = text.lastIndexOf("=");
  const column = findColumn(text.slice(end + 1));
  if (end < 1 || column === undefined)
    throw new InvalidArgumentError(`Write "<name in the file>=<column>". ${columnsSentence}`);
  return [...others, { from: text.slice(0, end).trim(), column }];
}

const parseEncoding = (text: string) =>
  orInvalid(
    () => new TextDecoder(text).encoding,
    "It is one of the Encoding Standard, such as windows-1252.",
  );

const parseTimeZone = (text: string) =>
  orInvalid(() => clockOf(text), "It is one of the IANA database, such as Europe/Berlin.");

function orInvalid<Value>(parse: () => Value, sentence: string): Value {
  try {
    return parse();
  } catch {
    throw new InvalidArgumentError(sentence);
  }
}
