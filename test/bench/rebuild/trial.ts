import { type Shares, shares } from "../overload/summary.ts";
import { type KilledCommand, runKilled } from "./killed-command.ts";
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
  // Without a plan, a rebuild reads all rows twice.
  const reads = (await world.ask((program) => program.planRebuild())) ?? 2 * leads;
  const askStatus = () => world.ask((program) => program.status());
  let killed: Status;
  const rebuilt = await runKilled(world, {
    ...{ leads, reads, run: (program) => program.rebuild() },
    async onKilled() {
      killed = await askStatus();
    },
  });
  const rebuild = { ...rebuilt.command, ...compareStatus(killed, await askStatus()) };
  const verified = await runKilled(world, { leads, reads: leads, run: (program) => program.verify() });
  const of = (kind: string) => shares(simulation.requests.filter((request) => request.kind === kind));
  return {
    ...{ seed: options.seed, sources: sources.length, rebuild, verify: verified.command },
    differences: verified.value?.length ?? null,
    throttled: simulation.service.table.throttled,
    ...{ lists: of("list"), creates: of("create") },
  };
}

type Status = Awaited<ReturnType<Program["status"]>>;

/** What `counts status` said when the first run was killed, and what it tells after the second. */
function compareStatus(killed: Status, after: Status) {
  if (!killed?.rebuild || !after) return { status: null, continued: false };
  const { percent, secondsSinceProgress = null } = killed.rebuild;
  // A tree that was started anew has a later generation.
  const continued = after.generation === (killed.generation ?? 0) + 1;
  return { status: { percent, secondsSinceProgress }, continued };
}
