import { format } from "node:util";
import { NumberValueImpl as NumberValue } from "@aws-sdk/util-dynamodb";

/**
 * Characters with which a text could run commands of the terminal, or show another order or other lines than it has: control
 * characters, separators of lines and paragraphs, and those that set the direction of the text.
 */
const unsafe = /[\p{Cc}\u2028\u2029\p{Bidi_Control}]/gu;

/** Escapes such characters as JSON does: what is stored must be data wherever it is printed. */
export const escapeText = (text: string) =>
  text.replaceAll(unsafe, (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`);

/** A stored value as text; an absent one is empty. `String` throws for a map that has a `toString`. */
export const toText = (value: unknown = "") =>
  value instanceof NumberValue || typeof value !== "object" ? String(value) : JSON.stringify(value);

/** A word of a command to paste, quoted if a shell would take it for more than a word. */
export const shellWord = (text: string) =>
  /^[\w@%+=:,./-]+$/.test(text) ? text : `'${escapeText(text).replaceAll("'", `'\\''`)}'`;

/** Escapes everything but line breaks that this process prints on its console from now on. JSON stays the same data. */
export function escapeConsole(): void {
  for (const name of ["log", "error", "warn"] as const) {
    const print = console[name].bind(console);
    console[name] = (...values: unknown[]) =>
      print(
        format(...values)
          .split("\n")
          .map(escapeText)
          .join("\n"),
      );
  }
}
