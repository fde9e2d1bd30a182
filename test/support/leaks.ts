/**
 * The lines that show one of the texts: as it is, as JSON or a URL has it, or as bytes in base64, in hexadecimal or as
 * the numbers that Node.js prints.
 */
export function leaksIn(lines: readonly string[], texts: Iterable<string>): string[] {
  if (lines.length === 0) return [];
  const forms = [...new Set([...texts].flatMap(formsOf))];
  return lines.filter((line) => forms.some((form) => line.includes(form)));
}

function formsOf(text: string): string[] {
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

/** The base64 of bytes with so many others before them: the characters that the bytes alone decide. */
function base64Inside(bytes: Buffer, before: number): string {
  const bits = (before + bytes.length) * 8;
  const encoded = Buffer.concat([Buffer.alloc(before), bytes]).toString("base64");
  return encoded.slice(Math.ceil((before * 8) / 6), Math.floor(bits / 6));
}
