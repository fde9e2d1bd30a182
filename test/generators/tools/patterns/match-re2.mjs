/**
 * Prints for each pattern of the standard input which of its texts match, as 0 and 1, by the rules of RE2, as Go does.
 *
 * Each line is a list of code points; an empty line ends the patterns.
 */
import { text } from "node:stream/consumers";
import { RE2JS } from "re2js";

const decode = (line) => String.fromCodePoint(...line.split(" ").map(Number));
const [patterns, texts] = (await text(process.stdin))
  .split("\n\n")
  .map((part) => part.trimEnd().split("\n").map(decode));
for (const pattern of patterns) {
  const compiled = RE2JS.compile(pattern);
  console.log(texts.map((value) => (compiled.matcher(value).find() ? "1" : "0")).join(""));
}
