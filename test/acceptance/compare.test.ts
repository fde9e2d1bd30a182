import { expect, test } from "vitest";
import { compareReports } from "./compare.ts";
import { compared } from "./finding.ts";
import { type Report, reported } from "./report.ts";

/** A report of a run that saw this of each check. */
const reportOf = (seen: Readonly<Record<string, string>>): Report => ({
  ...{ name: "dev", url: "http://127.0.0.1:1", startedAt: "2026-11-29T13:00:00.000Z", seconds: 1 },
  findings: Object.entries(seen).map(([check, text]) =>
    reported({ name: "times" }, compared({ check, page: "", expected: "" }, text, text !== "none")),
  ),
});

test("a comparison names other verdicts, figures that are far apart, and checks of one run only", () => {
  const earlier = reportOf({ Call: "8.1 ms, p99 100 ms", Start: "100 ms", Lag: "1 s", Old: "1" });
  const later = reportOf({ Call: "12 ms, p99 151 ms", Start: "140 ms", Lag: "none", New: "1" });
  expect(compareReports(earlier, earlier)).toEqual([]);
  expect(compareReports(earlier, later)).toEqual([
    "times: Call: as assumed (8.1 ms, p99 100 ms), now as assumed (12 ms, p99 151 ms)",
    "times: Lag: as assumed (1 s), now differs (none)",
    "times: New: not checked, now as assumed (1)",
    "times: Old: as assumed (1), now not checked",
  ]);
});
