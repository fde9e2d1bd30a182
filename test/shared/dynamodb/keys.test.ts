import fc from "fast-check";
import { expect, test } from "vitest";
import { accountPartition } from "../../../shared/dynamodb/keys.ts";

const part = fc.oneof(
  fc.string({ unit: "binary", minLength: 1, maxLength: 64 }).filter((text) => text.isWellFormed()),
  fc.constantFrom("#", "%23", "a#b", "%", "LEAD", "acme#new"),
);

test("different values never build the same partition key", () => {
  const parts = fc.tuple(part, part, part);
  fc.assert(
    fc.property(parts, parts, (a, b) => {
      const same = a.every((value, i) => value === b[i]);
      expect(accountPartition("lead", ...a) === accountPartition("lead", ...b)).toBe(same);
      const [sourceA, sourceB] = [a, b].map(([account, value]) => accountPartition("lead", account, value));
      expect(sourceA === sourceB).toBe(a[0] === b[0] && a[1] === b[1]);
    }),
  );
});
