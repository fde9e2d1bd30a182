import { readFileSync } from "node:fs";
import { expect, test } from "vitest";

const tableOf = (page: string) => /^\| Request \| W \|(?:.+\n)+/m.exec(readFileSync(page, "utf8"))?.[0];

test("docs/deploying.md has the costs of a million requests that the benchmark measured", () => {
  const measured = tableOf("docs/bench/pages.md");
  expect(measured).toContain("| A lead with ");
  expect(tableOf("docs/deploying.md")).toBe(measured);
});
