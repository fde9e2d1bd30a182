import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { formatColumns } from "../../lib/ops/output/columns.ts";
import type { Finding } from "./finding.ts";
import type { Phase } from "./phase.ts";

/** What a run found. */
export interface Report {
  readonly name: string;
  readonly url: string;
  readonly startedAt: string;
  readonly seconds: number;
  /** Why it ended early, if it did. */
  readonly ended?: string | undefined;
  readonly findings: readonly ReportedFinding[];
}

export interface ReportedFinding extends Finding {
  readonly phase: string;
  /** The numbers of what was seen, in their order. */
  readonly figures: readonly number[];
  /** The lines that rest on it, each as `file:line`. */
  readonly restsOnIt: readonly string[];
}

/** A finding as the report has it. */
export const reported = ({ name }: Pick<Phase, "name">, finding: Finding): ReportedFinding => ({
  phase: name,
  ...finding,
  figures: (finding.seen.match(/\d+(?:\.\d+)?/g) ?? []).map(Number),
  restsOnIt: linesThatRestOn(finding.page),
});

const root = join(import.meta.dirname, "../..");

/** The lines that name a section of docs/assumptions.md, each as `file:line`, by the name of the section. */
const linesBySection = Map.groupBy(
  globSync("{*.md,{docs,functions,lib,shared}/**/*.{md,ts}}", {
    cwd: root,
    exclude: ["**/node_modules/**"],
  }).flatMap((file) =>
    readFileSync(join(root, file), "utf8")
      .split("\n")
      .flatMap((line, n) =>
        Array.from(line.matchAll(/assumptions\.md#([a-z0-9-]+)/g), ([, section]) => ({
          section,
          at: `${file}:${n + 1}`,
        })),
      ),
  ),
  ({ section }) => section,
);

/** The lines that rest on an assumption, each as `file:line`. A promise rests on its own page. */
export function linesThatRestOn(page: string): readonly string[] {
  const [, section] = /^docs\/assumptions\.md#(.+)$/.exec(page) ?? [];
  return section === undefined ? [page] : (linesBySection.get(section) ?? []).map(({ at }) => at);
}

/** How many findings have each verdict. */
export function countVerdicts({ findings }: Pick<Report, "findings">) {
  const of = (verdict: Finding["verdict"]) =>
    findings.filter((finding) => finding.verdict === verdict).length;
  return { asAssumed: of("as assumed"), differs: of("differs"), notSeen: of("not seen") };
}

/** What the terminal shows: everything but the promises that are kept. */
export function terminalTable(report: Report): string {
  const rows = report.findings
    .filter(({ phase, verdict }) => phase !== "contract" || verdict !== "as assumed")
    .map(({ phase, check, expected, seen, verdict }) => ({
      phase,
      verdict,
      check,
      expected,
      seen: firstLine(seen),
    }));
  return rows.length === 0 ? summary(report) : `${formatColumns(rows)}\n\n${summary(report)}`;
}

const firstLine = (text: string) => text.replaceAll(/\s*\n\s*/g, "; ");

/** One sentence. */
function summary(report: Report): string {
  const { asAssumed, differs, notSeen } = countVerdicts(report);
  const time =
    report.seconds < 90 ? `${Math.round(report.seconds)} s` : `${Math.round(report.seconds / 60)} minutes`;
  return `${asAssumed} as assumed, ${differs} differ, ${notSeen} could not be seen, in ${time}.${report.ended ? ` ${report.ended}` : ""}`;
}
