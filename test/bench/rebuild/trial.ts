import { type Shares, shares } from "../overload/summary.ts";
import { generations } from "../overload/tree-view.ts";
import { type KilledCommand, runKilled } from "./killed-command.ts";
import { account } from "./population.ts";
import type { Program } from "./program.ts";
import { World, type WorldOptions } from "./world.ts";

export interface Trial {
  readonly seed: number;
  /** The number of sources of the leads. */
  readonly sources: number;
  readonly rebuild: KilledCommand & {
    /** What `counts status` said when the first run was killed; null if nothing. */
    readonly status: { readonly percent: number; readonly secondsSinceProgress: number | null } | null;
    /** Whether the second run went on where the first was killed. */
    readonly continued: boolean;
  };
  readonly verify: KilledCommand;
  /** The differences that `counts verify` found; null if it failed. */
  readonly differences: number | null;
  /** How many attempts of table calls were throttled, of commands and of functions. */
  readonly throttled: number;
  readonly lists: Shares;
  readonly creates: Shares;
}

/** How long the load lasts before the first command, in seconds. */
const warmUp = 60;

/** Whether everything ended as it must. */
export const hasSucceeded = ({ rebuild, verify, differences, lists, creates }: Trial) =>
  rebuild.killedAfter !== null &&
  rebuild.continued &&
  rebuild.failure === null &&
  verify.killedAfter !== null &&
  verify.failure === null &&
  differences === 0 &&
  lists.wrong + lists.failed + creates.wrong + creates.failed === 0;

/** Rebuilds and verifies the counts of an account beside a load; each command is killed once and run again. */
export async function runTrial(options: WorldOptions): Promise<Trial> {
  const world = new World(options);
  const { simulation } = world;
  const { leads, sources } = options.population;
  await simulation.run(warmUp);
  const planned = await world.ask((program) => program.planRebuild());
  if (planned === undefined) throw new Error("The plan of the rebuild failed.");
  // At last it reads all rows once for their sublists; it is killed before.
  const reads = planned - leads;
  const { memory, table } = simulation.service;
  let killed: { readonly rebuilding?: number | undefined; readonly status: Status | undefined } | undefined;
  const rebuilt = await runKilled(world, {
    ...{ leads, reads, run: (program) => program.rebuild() },
    async onKilled() {
      const { rebuilding } = generations(memory, account);
      killed = { rebuilding, status: await world.ask((program) => program.status()) };
    },
  });
  const rebuild = {
    ...rebuilt.command,
    status: toRebuildStatus(killed?.status),
    // A tree that was started anew has a later generation.
    continued: generations(memory, account).generation === killed?.rebuilding,
  };
  const verified = await runKilled(world, { leads, reads: leads, run: (program) => program.verify() });
  const of = (kind: string) => shares(simulation.requests.filter((request) => request.kind === kind));
  return {
    ...{ seed: options.seed, sources: sources.length, rebuild, verify: verified.command },
    differences: verified.value?.length ?? null,
    throttled: table.throttled,
    ...{ lists: of("list"), creates: of("create") },
  };
}

type Status = Awaited<ReturnType<Program["status"]>>;

function toRebuildStatus(status: Status | undefined) {
  if (!status?.rebuild) return null;
  const { percent, secondsSinceProgress = null } = status.rebuild;
  return { percent, secondsSinceProgress };
}
