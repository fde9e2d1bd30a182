import { format } from "node:util";
import { NumberValueImpl as NumberValue } from "@aws-sdk/util-dynamodb";

/**
 * Characters with which a text could control the terminal, or be shown in another order or on other lines: control
 * characters, line and paragraph separators, and characters that set the text direction.
 */
const unsafe = /[\p{Cc}\u2028\u2029\p{Bidi_Control}]/gu;

/** Escapes unsafe characters as JSON does: a stored text must never control the terminal that prints it. */
export const escapeText = (text: string) =>
  text.replaceAll(unsafe, (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`);

/** A stored value as text; an absent one is empty. `String` throws for a map that has a `toString`. */
export const toText = (value: unknown = "") =>
  value instanceof NumberValue || typeof value !== "object" ? String(value) : JSON.stringify(value);

/** A word of a command to paste, quoted if a shell would not read it as one plain word. */
export const shellWord = (text: string) =>
  /^[\w@%+=:,./-]+$/.test(text) ? text : `'${escapeText(text).replaceAll("'", `'\\''`)}'`;

/** From now on, the console escapes unsafe characters, except for line breaks. Printed JSON stays the same data. */
export function escapeConsole(): void {
  for (const name of ["log", "error", "warn"] as const) {
    const print = console[name].bind(console);
    console[name] = (...values: unknown[]) => {
      const lines = format(...values).split("\n");
      print(lines.map(escapeText).join("\n"));
    };
  }
}
