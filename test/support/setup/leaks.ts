import { expect, vi } from "vitest";
import { sent } from "../requests/sent.ts";

/**
 * Finds the lines that contain one of the texts: unchanged, escaped as in JSON or a URL, or its bytes as base64, hexadecimal
 * or the numbers that Node.js prints. @returns each line with its text
 */
export function findLeaks(lines: readonly string[], texts: Iterable<string>) {
  if (lines.length === 0) return [];
  const forms = [...new Set(texts)].flatMap((text) =>
    [...new Set(encodings(text))].map((form) => ({ text, form })),
  );
  return lines.flatMap((line) => {
    const leak = forms.find(({ form }) => line.includes(form));
    return leak ? [{ text: leak.text, line }] : [];
  });
}

/**
 * Fails when a line contains a text that this test file sent to the API. `ALLOW_LOG_LEAKS=1` switches the check off, except
 * in CI, and shows the output of passing tests.
 */
export const expectNothingSentIn = vi.defineHelper((lines: readonly string[]): void => {
  if (process.env.ALLOW_LOG_LEAKS === "1" && !process.env.CI) return;
  // Clients send personal data and keys, so no code may log them: log an id, a count or an error code instead.
  expect(findLeaks(lines, sent).slice(0, 5), "The log holds text that this test file sent").toEqual([]);
});

function encodings(text: string): string[] {
  const bytes = Buffer.from(text);
  return [
    text,
    JSON.stringify(text).slice(1, -1),
    encodeURIComponent(text.toWellFormed()),
    ...[0, 1, 2].map((before) => base64Inside(bytes, before)),
    bytes.toString("hex"),
    Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join(" "),
    bytes.join(", "),
    bytes.join(","),
  ];
}

/** The base64 characters that depend only on these bytes when this many other bytes precede them. */
function base64Inside(bytes: Buffer, before: number): string {
  const bits = (before + bytes.length) * 8;
  const encoded = Buffer.concat([Buffer.alloc(before), bytes]).toString("base64");
  return encoded.slice(Math.ceil((before * 8) / 6), Math.floor(bits / 6));
}
