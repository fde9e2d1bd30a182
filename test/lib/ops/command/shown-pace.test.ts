import { afterEach, expect, test, vi } from "vitest";
import { ShownPace } from "../../../../lib/ops/command/select-table.ts";

afterEach(() => {
  vi.restoreAllMocks();
  vi.useRealTimers();
});

test.each([
  [true, ["1,025 read units used so far.", "1,045 read units used so far."]],
  [false, []],
])("says every ten seconds how many units are used, if stderr is a terminal (%s)", async (isTTY, lines) => {
  vi.useFakeTimers({ toFake: ["Date"] });
  vi.spyOn(process, "stderr", "get").mockReturnValue({ isTTY } as never);
  const error = vi.spyOn(console, "error").mockImplementation(() => {});
  const pace = new ShownPace(1_000_000);
  for (const units of [1000, 5, 20, 10, 10]) {
    await pace.spend(units);
    vi.setSystemTime(Date.now() + 5000);
  }
  expect(error.mock.calls.flat()).toEqual(lines);
});
