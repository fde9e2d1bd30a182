import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { phases } from "./acceptance.ts";

const page = readFileSync(join(import.meta.dirname, "../../docs/assumptions.md"), "utf8");

/** The rows of the page: the name of each assumption, and how it is checked. */
const rows = page.split("\n").flatMap((line) => {
  const [, name] = /<a id="([a-z0-9-]+)"><\/a>/.exec(line) ?? [];
  const [, , , check = ""] = line.split(" | ");
  return name === undefined ? [] : [{ name, check }];
});

/** The assumptions that the code of the phases names. */
const code = globSync("phases/*.ts", { cwd: import.meta.dirname }).map((file) =>
  readFileSync(join(import.meta.dirname, file), "utf8"),
);
const checked = new Set(
  Array.from(code.join().matchAll(/assumption\(\s*"([a-z0-9-]+)"/g), ([, name]) => name),
);

test("the page has each assumption once, and has all assumptions that the phases check", () => {
  const names = rows.map(({ name }) => name);
  expect(names.length).toBeGreaterThanOrEqual(30);
  expect(new Set(names).size).toBe(names.length);
  expect(names).toEqual(expect.arrayContaining([...checked]));
});

test.each(rows)("$name is checked by the phase that its row names, or has a reason", ({ name, check }) => {
  const [, phase] = /^`(\w+)`/.exec(check) ?? [];
  if (phase === undefined) return expect(check).toMatch(/^None: \w/);
  expect(phases.map(({ name }) => name)).toContain(phase);
  // The phase contract checks promises of the pages, which name no assumption.
  if (phase !== "contract") expect(checked).toContain(name);
});
