import { expect, test } from "vitest";
import { validateCreateLead } from "../../../shared/http/route-validators.ts";

test("a value of a body has at most two errors", () => {
  const tags = Array.from({ length: 1000 }, () => `\u0001${"x".repeat(64)}`);
  expect(validateCreateLead({ query: {}, body: { name: "Ada", tags } })).toBe(false);
  // One more error is about the number of tags.
  expect(validateCreateLead.errors).toHaveLength(2001);
});
