import { printParseErrorCode, visit } from "jsonc-parser";
import { maxDepth } from "./json-scan.ts";

/** Where a text stops being JSON. */
interface JsonError {
  /** One of the names of jsonc-parser. */
  readonly code: string;
  /** The token that was met; empty at the end of the text. */
  readonly met: string;
  /** The text before and after the token. */
  readonly before: string;
  readonly after: string;
  /** From 1. */
  readonly line: number;
  readonly column: number;
}

/**
 * What to do about a text that is not JSON, and where, in words that follow the name of the text. They repeat nothing of
 * the text.
 *
 * @param text text that `JSON.parse` has refused
 */
export function invalidJsonMessage(text: string): string {
  const error = firstError(text);
  if (!error) return "must be valid JSON";
  return `must be valid JSON: at line ${error.line}, column ${error.column}, ${remedy(error)}`;
}

/** Ends the search for errors. */
const found = new Error("found");

/** The first error of a text; undefined if it has more levels than are searched before it. */
function firstError(text: string): JsonError | undefined {
  let error: JsonError | undefined;
  let depth = 0;
  const open = () => {
    depth++;
    // The parser calls itself for each level.
    if (depth > maxDepth) throw found;
  };
  const close = () => {
    depth--;
  };
  const onError = (code: number, offset: number, length: number, line: number, column: number) => {
    const [before, met, after] = [
      text.slice(0, offset),
      text.slice(offset, offset + length),
      text.slice(offset + length),
    ];
    error = { code: printParseErrorCode(code), met, before, after, line: line + 1, column: column + 1 };
    throw found;
  };
  try {
    const visitor = {
      onError,
      onObjectBegin: open,
      onArrayBegin: open,
      onObjectEnd: close,
      onArrayEnd: close,
    };
    visit(text, visitor, { disallowComments: true });
  } catch (thrown) {
    if (thrown !== found) throw thrown;
  }
  return error;
}

const number = "write the number as JSON does, such as 0.5 or -1";

/** The remedies that depend on the code alone. */
const remedies: Readonly<Record<string, string>> = {
  ValueExpected: "add the missing value",
  PropertyNameExpected: "put a name in double quotes",
  ColonExpected: "add a colon after the name",
  CommaExpected: "add a comma",
  EndOfFileExpected: "remove what follows the JSON value",
  InvalidCommentToken: "remove the comment",
  UnexpectedEndOfNumber: number,
  InvalidUnicode: "give each \\u of the string that starts here four hexadecimal digits",
  InvalidEscapeCharacter: "write each backslash of the string that starts here as \\\\",
  InvalidCharacter: "escape the control characters of the string that starts here, a tab as \\t",
};

function remedy({ code, met, before, after }: JsonError): string {
  if (code === "UnexpectedEndOfString")
    return `close the string that starts here with a double quote${after && ", or escape its line break as \\n"}`;
  if (met === "") return "the text ends too early";
  if (code === "InvalidSymbol") return symbolRemedy(met, before === "");
  if (/^[}\]]/.test(met) && before.trimEnd().endsWith(",")) return "remove the comma before the bracket";
  if (code === "CommaExpected" && /^[}\]]/.test(met)) return "use the other closing bracket";
  if (/^\d/.test(met) && /\d$/.test(before)) return "write the number without leading zeros";
  return remedies[code] ?? "write JSON";
}

/** The remedy for a word, or another sequence of characters, that JSON has only in texts. */
function symbolRemedy(met: string, isFirst: boolean): string {
  if (met.startsWith("\ufeff")) return "remove the byte order mark";
  if (isFirst && met.includes("=")) return "send a JSON object in place of form fields";
  if (/^['`\u2018\u2019\u201c\u201d]/.test(met)) return 'use straight double quotes (")';
  if (/^[-+.\d]/.test(met)) return number;
  if (/^[\p{L}_$]/u.test(met))
    return "put the word in double quotes: only numbers, true, false and null stand without them";
  const code = met.codePointAt(0)?.toString(16).toUpperCase().padStart(4, "0");
  return `remove the character U+${code}, or put it in double quotes`;
}
