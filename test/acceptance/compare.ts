import type { Report, ReportedFinding } from "./report.ts";

/** How many times as large or as small a figure must be to be named: times vary from run to run. */
const ratio = 1.5;

/** What differs from an earlier report, a line each: verdicts, figures by more than the ratio, and checks of one run only. */
export function compareReports(earlier: Report, { findings }: Report): string[] {
  const before = new Map(earlier.findings.map((finding) => [nameOf(finding), finding]));
  const lines = findings.flatMap((finding) => {
    const former = before.get(nameOf(finding));
    before.delete(nameOf(finding));
    return former && !differs(former, finding)
      ? []
      : [`${nameOf(finding)}: ${show(former)}, now ${show(finding)}`];
  });
  return [...lines, ...[...before].map(([name, former]) => `${name}: ${show(former)}, now ${show()}`)];
}

const nameOf = ({ phase, check }: ReportedFinding) => `${phase}: ${check}`;

const show = (finding?: ReportedFinding) =>
  finding ? `${finding.verdict} (${finding.seen})` : "not checked";

const differs = (former: ReportedFinding, { verdict, figures }: ReportedFinding) =>
  former.verdict !== verdict ||
  (verdict !== "not seen" && figures.some((figure, n) => isFar(figure, former.figures[n])));

const isFar = (one: number, other = Number.NaN) => !(Math.max(one, other) <= ratio * Math.min(one, other));
