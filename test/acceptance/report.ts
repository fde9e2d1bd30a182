import { formatColumns } from "../../lib/ops/output/columns.ts";
import type { Finding } from "./finding.ts";

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

/** A finding with the name of its phase. */
export type ReportedFinding = Finding & { readonly phase: string };

/** How many findings have each verdict. */
export function countVerdicts({ findings }: Pick<Report, "findings">) {
  const of = (verdict: Finding["verdict"]) =>
    findings.filter((finding) => finding.verdict === verdict).length;
  return { asAssumed: of("as assumed"), differs: of("differs"), notSeen: of("not seen") };
}

/** The table for the terminal: all findings except promises that are kept. */
export function terminalTable(report: Report): string {
  const rows = report.findings
    .filter(({ phase, verdict }) => phase !== "contract" || verdict !== "as assumed")
    .map((finding) => ({ ...finding, seen: firstLine(finding.seen) }));
  if (rows.length === 0) return summary(report);
  return `${formatColumns(rows, ["phase", "verdict", "check", "expected", "seen"])}\n\n${summary(report)}`;
}

const firstLine = (text: string) => text.replaceAll(/\s*\n\s*/g, "; ");

/** The findings in one sentence. */
function summary(report: Report): string {
  const { asAssumed, differs, notSeen } = countVerdicts(report);
  return `${asAssumed} as assumed, ${differs} differ, ${notSeen} could not be seen, in ${Math.round(report.seconds)} s.${report.ended ? ` ${report.ended}` : ""}`;
}
