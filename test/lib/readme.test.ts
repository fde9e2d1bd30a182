import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";

const root = join(import.meta.dirname, "../..");
const readme = readFileSync(join(root, "README.md"), "utf8");

/** The number of lines of TypeScript in some folders and files, without blank ones. */
function countLines(paths: readonly string[]): number {
  const files = paths.flatMap((path) =>
    path.endsWith(".ts") ? path : globSync(`${path}/**/*.ts`, { cwd: root }),
  );
  return files
    .flatMap((file) => readFileSync(join(root, file), "utf8").split("\n"))
    .filter((line) => line.trim() !== "").length;
}

/** The rows of the README's table of lines: their number, their purpose and their paths. */
const rows = [...readme.matchAll(/^\| ([\d,]+) \| (.*?) \| (.*?) \|$/gm)].map(
  ([, lines = "", what = "", paths = ""]) => ({
    what,
    lines: Number(lines.replace(",", "")),
    paths: [...paths.matchAll(/`(.*?)\/?`/g)].map(([, path = ""]) => path),
  }),
);

test.each(rows)("the README states the current number of lines for $what", ({ lines, paths }) => {
  const counted = countLines(paths);
  expect(Math.abs(lines - counted) / counted, `${counted} lines`).toBeLessThan(0.05);
});

test("the table of lines in the README leaves no folder out", () => {
  const all = ["bin", "functions", "shared", "lib", "test"];
  const others = globSync("{shared,lib}/*.ts", { cwd: root });
  const counted = rows.flatMap(({ paths }) => paths);
  expect(countLines([...counted, ...others])).toBe(countLines(all));
});

test("the README has at most 150 lines, and its JSON fits the width of a page on GitHub", () => {
  expect(readme.split("\n").length).toBeLessThanOrEqual(151);
  const json = [...readme.matchAll(/^```json\n(.*?)^```$/gms)].flatMap(([, text = ""]) => text.split("\n"));
  expect(json.filter((line) => line.length > 100)).toEqual([]);
});
