import { afterEach, expect, test, vi } from "vitest";
import { withProgress } from "../../../../lib/ops/common/progress.ts";

const { isTTY } = process.stderr;
afterEach(() => {
  vi.restoreAllMocks();
  process.stderr.isTTY = isTTY;
});

test("a total that cannot be read hinders no work", async () => {
  process.stderr.isTTY = true;
  vi.spyOn(process.stderr, "write").mockReturnValue(true);
  const total = () => Promise.reject(new Error("The root of a counted tree has malformed entries."));
  expect(await withProgress("Reading", total, async (onRows) => onRows(1) ?? "done")).toBe("done");
});
