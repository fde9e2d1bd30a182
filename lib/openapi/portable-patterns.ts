import {
  lines,
  notBlank,
  notConversationId,
  notLeadId,
  notMessageId,
  oneLine,
  visible,
} from "../../shared/schemas/text-rules.ts";

/** Any character but a control character. */
const character = "[^\\x00-\\x1F\\x7F-\\x9F]";

/** The same, but line breaks and tabs are allowed. */
const characterOfLines = "[^\\x00-\\x08\\x0B\\x0C\\x0E-\\x1F\\x7F-\\x9F]";

/**
 * Any character but a space of Unicode or a control character.
 *
 * In Go and Java, `\s` has only the spaces of ASCII. So the others are listed, as themselves, because no escape of them
 * is known to all languages. U+2028 and U+2029 are not: generators that write a pattern into a program as a literal
 * would end its line there.
 */
const space = "\\s\\x00-\\x20\\x7F-\\xA0\u1680\u2000-\u200A\u202F\u205F\u3000\uFEFF";
const notSpace = `[^${space}]`;

/** The patterns of the document by those of the validators, of which a text must match each one. */
const patterns: ReadonlyMap<string, string> = new Map([
  [keyOf(oneLine), `^${character}*$`],
  [keyOf(lines), `^${characterOfLines}*$`],
  [keyOf(visible), `^[^,${space}]*$`],
  [keyOf(notBlank, oneLine), `^${character}*${notSpace}${character}*$`],
  [keyOf(notBlank, lines), `^${characterOfLines}*${notSpace}${characterOfLines}*$`],
]);

/** The patterns that the document leaves out: to exclude a prefix, only some languages have a notation. */
const omitted: ReadonlySet<string> = new Set([notLeadId, notConversationId, notMessageId]);

function keyOf(...all: readonly string[]): string {
  return JSON.stringify(all);
}

interface TextSchema {
  readonly pattern?: string;
  readonly allOf?: readonly { readonly pattern: string }[];
}

/**
 * The schema of a text with one pattern instead of those of the validators, which need JavaScript's `u` flag. It accepts
 * the same texts in all languages.
 *
 * @throws Error when no single pattern is known for several of them
 */
export function withPortablePattern({ pattern, allOf, ...schema }: TextSchema): object {
  const parts = allOf?.map((part) => part.pattern) ?? (pattern === undefined ? [] : [pattern]);
  const all = parts.filter((part) => !omitted.has(part));
  if (all.length === 0) return schema;
  const portable = patterns.get(keyOf(...all)) ?? pattern;
  if (portable === undefined) throw new Error(`There is no single pattern for ${all.join(" and ")}.`);
  return { ...schema, pattern: portable };
}
