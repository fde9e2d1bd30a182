import * as textRules from "../../shared/schemas/text-rules.ts";

/** Characters except control characters; the same, and also line breaks and tabs; without control characters and spaces. */
const character = "[^\\x00-\\x1F\\x7F]";
const characterOfLines = "[^\\x00-\\x08\\x0B\\x0C\\x0E-\\x1F\\x7F]";
const visibleCharacter = "[^\\x00-\\x20\\x7F]";

/**
 * The document's patterns, by those of the validators, which need JavaScript's `u` flag. They mean the same in all languages,
 * also in those that match bytes. So they restrict only ASCII, and accept some texts that the service refuses.
 */
const patterns: Readonly<Record<string, { readonly any: string; readonly notBlank?: string }>> = {
  [textRules.oneLine]: { any: `^${character}*$`, notBlank: `^ *${visibleCharacter}${character}*$` },
  [textRules.lines]: {
    any: `^${characterOfLines}*$`,
    notBlank: `^[\\x09\\x0A\\x0D ]*${visibleCharacter}${characterOfLines}*$`,
  },
  [textRules.visible]: { any: "^[^\\x00-\\x20\\x7F,]*$" },
  [textRules.address]: { any: "^[^\\x00-\\x1F\\x7F,]*$" },
  [textRules.templateName]: { any: textRules.templateName },
  [textRules.channelAddress]: { any: "^[^:,]+: *[^\\x00-\\x20\\x7F,][^\\x00-\\x1F\\x7F,]*$" },
};

interface TextSchema {
  readonly pattern?: string;
  readonly format?: string;
  /** Patterns that exclude a prefix. Only some languages have a notation for it: the document leaves them out. */
  readonly allOf?: unknown;
}

/**
 * The schema of a text with a pattern for all languages. It replaces what only the validators know: their patterns, and the
 * formats that forbid blank texts.
 */
export function withPortablePattern({ pattern, allOf, ...schema }: TextSchema): object {
  if (pattern === undefined) return schema;
  const { format, ...rest } = schema;
  const { any, notBlank = any } = patterns[pattern] ?? { any: pattern };
  return { ...rest, pattern: format === undefined ? any : notBlank };
}

/** Limits of what clients send. A later version may raise some of them. */
const limitKeywords = /^(?:(?:min|max)(?:Length|Items)|maximum|maxProperties|propertyNames)$/;

/** The formats that schemas of what clients receive keep. */
const formats: readonly unknown[] = ["date-time", "uri"];

/** The schema of what clients receive. They must not refuse a value because they could not send it now. */
export const withoutLimits = (schema: object): object =>
  Object.fromEntries(
    Object.entries(schema).filter(
      ([name, value]) =>
        !limitKeywords.test(name) &&
        !(name === "pattern" && value in patterns) &&
        !(name === "format" && !formats.includes(value)),
    ),
  );
