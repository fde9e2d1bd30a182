import { expect, test } from "vitest";
import { Landings } from "./landings.ts";
import { isRightPage } from "./page-check.ts";

const key = (n: number) => String(n).padStart(3, "0");

/** Fifty rows, of which the last two landed during the request. */
const landings = new Landings();
for (let n = 0; n < 50; n++) landings.add(key(n));
const before = 48;

/** A page from a row down. */
const page = (newest: number, total: number, length = 20) => ({
  data: Array.from({ length }, (_, at) => ({ id: key(newest - at) })),
  pagination: { total },
});

test.each([
  { what: "the first page with all rows", number: 1, of: page(49, 50), right: true },
  { what: "the first page without those that landed meanwhile", number: 1, of: page(47, 48), right: true },
  { what: "a total above", number: 1, of: page(49, 51), right: false },
  { what: "a total below", number: 1, of: page(47, 47), right: false },
  { what: "a first page without a row that had landed", number: 1, of: page(46, 48), right: false },
  { what: "a short page", number: 1, of: page(49, 50, 19), right: false },
  { what: "the second page", number: 2, of: page(28, 49), right: true },
  { what: "a second page too far down", number: 2, of: page(26, 48), right: false },
  { what: "the last page", number: 3, of: page(9, 50, 10), right: true },
])("$what: $right", ({ number, of, right }) => {
  expect(isRightPage(of, number, landings, before)).toBe(right);
});

test("a page that skips a row or is out of order is wrong", () => {
  const { data, pagination } = page(49, 50, 21);
  const [first, second, ...rest] = data;
  if (!first || !second) throw new Error("The page has no rows.");
  expect(isRightPage({ data: [first, ...rest], pagination }, 1, landings, before)).toBe(true);
  expect(isRightPage({ data: [first, second, ...rest.slice(1)], pagination }, 1, landings, before)).toBe(
    false,
  );
  expect(isRightPage({ data: [second, first, ...rest.slice(1)], pagination }, 1, landings, before)).toBe(
    false,
  );
});
