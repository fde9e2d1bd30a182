import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";

const root = join(import.meta.dirname, "..");
const read = (path: string) => readFileSync(join(root, path), "utf8");

/** Line breaks and indentation separate words like a space. */
const normalize = (text: string) => text.replace(/\s+/g, " ");

const text = normalize(read("SECURITY.md").replaceAll(/^- /gm, "\u2022 "));

/** A file in backticks, perhaps with words that are in it. */
const reference = /`([\w./-]+\/[\w.-]+\.(?:ts|json))`(?:: "([^"]+)")?/g;

const references = [...text.matchAll(reference)].map(([, path = "", words]) => ({ path, words }));

test.each(references)("SECURITY.md refers to $path: $words", ({ path, words }) => {
  expect(existsSync(join(root, path))).toBe(true);
  if (words !== undefined) expect(normalize(read(path))).toContain(words);
});

/** The items of each list of protections, up to the next paragraph in bold type or the next section. */
const protections = text
  .split("**Protection:**")
  .slice(1)
  .flatMap((part) => (part.split(/\*\*[A-Z][\w ]+:\*\*|#{2,3} /)[0] ?? "").split("\u2022 ").slice(1));

test("every protection in SECURITY.md names what holds it", () => {
  expect(protections.length).toBeGreaterThan(40);
  expect(protections.filter((item) => item.search(reference) < 0)).toEqual([]);
});
