import { errorMessage } from "../../lib/user-error.ts";
import { type Finding, notSeen } from "./finding.ts";
import type { Acceptance, Phase } from "./phase.ts";
import { contract } from "./phases/contract.ts";
import { cost } from "./phases/cost.ts";
import { counting } from "./phases/counting.ts";
import { events } from "./phases/events.ts";
import { gateway } from "./phases/gateway.ts";
import { keys } from "./phases/keys.ts";
import { times } from "./phases/times.ts";
import { linesThatRestOn, type Report } from "./report.ts";

/** In the order in which they are made: pages are measured when there are many leads. */
export const phases: readonly Phase[] = [contract, gateway, keys, counting, cost, times, events];

/** Those of `--quick`: whether callers can read and write. */
export const quickPhases: readonly Phase[] = [contract];

/** Why a phase cannot be made; undefined if it can. */
const whyNot = ({ needs }: Phase, { aws }: Acceptance): string | undefined =>
  needs === "aws" && !aws ? "the local run has no AWS" : undefined;

/** Makes the phases one after the other, takes back what they changed, and reports what was found until Ctrl-C. */
export async function accept(acceptance: Acceptance, selected: readonly Phase[]): Promise<Report> {
  const { name, url, signal, cleanUp } = acceptance;
  const start = new Date();
  const findings: Report["findings"][number][] = [];
  const ends: string[] = [];
  for (const [n, phase] of selected.entries()) {
    const add = (finding: Finding) =>
      findings.push({ phase: phase.name, ...finding, restsOnIt: linesThatRestOn(finding.page) });
    const rest = {
      check: `The phase ${phase.name}`,
      page: "docs/deploying.md#the-first-hour",
      expected: "made",
    };
    const why = signal.aborted ? "the run was ended" : whyNot(phase, acceptance);
    if (why !== undefined) {
      add(notSeen(rest, why));
      continue;
    }
    const left = selected
      .slice(n)
      .filter((later) => whyNot(later, acceptance) === undefined)
      .reduce((sum, { minutes }) => sum + minutes, 0);
    acceptance.note(`${phase.name}, phase ${n + 1} of ${selected.length}, about ${left} minutes are left`);
    try {
      for await (const finding of phase.run(acceptance)) add(finding);
    } catch (error) {
      const reason = signal.aborted ? "the run was ended" : errorMessage(error);
      add(notSeen({ ...rest, check: `The rest of the phase ${phase.name}` }, reason));
      if (!signal.aborted) ends.push(`The phase ${phase.name} failed: ${reason}.`);
    }
  }
  if (signal.aborted) ends.push("It was ended before all was checked.");
  try {
    await cleanUp.disposeAsync();
  } catch (error) {
    ends.push(
      `Not everything was taken back (${errorMessage(error)}): erase the accounts ${acceptance.accounts.names.join(", ")}, and delete the queue and the rule whose names end with the first one.`,
    );
  }
  const seconds = (Date.now() - start.getTime()) / 1000;
  const ended = ends.length > 0 ? ends.join(" ") : undefined;
  return { name, url, startedAt: start.toISOString(), seconds, ended, findings };
}
