import { errorMessage } from "../../lib/user-error.ts";
import type { AwsStage } from "./aws-stage.ts";
import { type Finding, notSeen } from "./finding.ts";
import type { Acceptance, Phase } from "./phase.ts";
import { contract } from "./phases/contract.ts";
import { cost } from "./phases/cost.ts";
import { counting } from "./phases/counting.ts";
import { events } from "./phases/events.ts";
import { gateway } from "./phases/gateway.ts";
import { keys } from "./phases/keys.ts";
import { times } from "./phases/times.ts";
import type { Report, ReportedFinding } from "./report.ts";

/** The phases in the order in which they run: pages are measured when there are many leads. */
export const phases: readonly Phase[] = [counting, cost, contract, gateway, keys, times, events];

/** The phases of `--quick`, which check whether callers can read and write. */
export const quickPhases: readonly Phase[] = [contract];

/** Runs the phases, reverts their changes, and reports the findings, after Ctrl-C the findings so far. */
export async function accept(acceptance: Acceptance, selected: readonly Phase[]): Promise<Report> {
  const { name, url, signal, cleanUp, note, startedAt } = acceptance;
  const findings: ReportedFinding[] = [];
  const ends: string[] = [];
  for (const [n, phase] of selected.entries()) {
    note(`${phase.name}, phase ${n + 1} of ${selected.length}`);
    await make(acceptance, phase, { findings, ends });
  }
  try {
    await cleanUp.disposeAsync();
  } catch (error) {
    ends.push(
      `Not everything was taken back (${errorMessage(error)}): erase the accounts ${acceptance.accounts.names.join(", ")}, and delete the queue and the rule whose names end with the first one.`,
    );
  }
  if (signal.aborted) ends.unshift("It was ended before all was checked.");
  const seconds = (Date.now() - startedAt) / 1000;
  const ended = ends.length > 0 ? ends.join(" ") : undefined;
  return { name, url, startedAt: new Date(startedAt).toISOString(), seconds, ended, findings };
}

/** Runs a phase. @param report gets its findings, and the reason if it fails */
async function make(
  acceptance: Acceptance,
  { name, needs, run }: Phase,
  { findings, ends }: { readonly findings: ReportedFinding[]; readonly ends: string[] },
): Promise<void> {
  const { signal, aws } = acceptance;
  const add = (finding: Finding) => void findings.push({ phase: name, ...finding });
  const leaveOut = (part: string, why: string) => {
    const check = `The ${part}phase ${name}`;
    add(notSeen({ check, page: "docs/deploying.md#the-first-hour", expected: "made" }, why));
  };
  if (signal.aborted) return leaveOut("", "the run was ended");
  if (needs === "aws" && !aws) return leaveOut("", "the local run has no AWS");
  try {
    for await (const finding of run(acceptance, aws as AwsStage)) add(finding);
  } catch (error) {
    const reason = signal.aborted ? "the run was ended" : errorMessage(error);
    leaveOut("rest of the ", reason);
    if (!signal.aborted) ends.push(`The phase ${name} failed: ${reason}.`);
  }
}
