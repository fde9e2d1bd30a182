import fc from "fast-check";

const emoji = "\u{1F600}";

/** Characters that are valid in every field and often mishandled. */
const oddCharacters = [
  ..."\"\\/'`<>&%#?=+,;:@$ßİ字\u00a0\u200d\u202e\u2028\ufeff\ufffd\uffff\u{10FFFF}",
  emoji,
  "e\u0301",
];

const character = fc.oneof(
  { weight: 3, arbitrary: fc.string({ unit: "grapheme-ascii", minLength: 1, maxLength: 1 }) },
  { weight: 1, arbitrary: fc.constantFrom(...oddCharacters) },
);

/** A short text of one line that is not blank. */
const short = fc.string({ unit: character, minLength: 1, maxLength: 12 }).filter((text) => /\S/.test(text));

/** A valid text of one line, sometimes of the greatest length. */
export const line = (longest: number) =>
  fc.oneof(
    { weight: 9, arbitrary: short },
    { weight: 1, arbitrary: fc.constantFrom("x".repeat(longest), emoji.repeat(longest)) },
  );

/** A source, channel or tag, often the same, so that filters match and messages join conversations. */
export const label = fc.oneof(
  { weight: 2, arbitrary: fc.constantFrom("instagram", "Instagram", "a,b", "a#new", "a%23new", "__proto__") },
  { weight: 1, arbitrary: line(64) },
);

export const email = fc.oneof(
  fc.constantFrom("ada@example.com", "o'hara+x@a.b.example", `a@${"b.".repeat(124)}com`),
  fc.nat().map((n) => `lead-${n}@example.com`),
);

/** A text that is invalid in every field of this greatest length. */
export const badLine = (longest: number) =>
  fc.constantFrom(
    ...["", "a\0b", "\u0085", "\u007f", "\ud800", "a\udc00\ud800", "\u001b[2J"],
    "x".repeat(longest + 1),
    emoji.repeat(longest + 1),
  );

/** Any string, including unpaired surrogates. */
export const anyText = fc.oneof(
  fc.string({ unit: "binary", maxLength: 30 }),
  fc.string({ unit: fc.nat(0xffff).map((code) => String.fromCharCode(code)), maxLength: 10 }),
);

/** Names with a meaning in JavaScript, the table or the service that are not fields or parameters. */
export const foreignName = fc.constantFrom(
  ..."__proto__ constructor prototype toString hasOwnProperty then pk sk accountId score byStatus Name".split(
    " ",
  ),
  ...["name ", "name\0", "tags[0]", "$where", "", "nàme", "\ud800", "n".repeat(5000)],
);
