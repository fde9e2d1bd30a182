import type { PartitionRates } from "../../support/dynamodb-limits/partition-limits.ts";
import { pick, seeded } from "../../support/random.ts";
import { Arrivals } from "../overload/arrivals.ts";
import type { LoadModules } from "../overload/bundle.ts";
import type { Product } from "../overload/product.ts";
import { Simulation } from "../overload/simulation.ts";
import type { Operations } from "./operations.ts";
import { runToEnd } from "./outcome.ts";
import { account, type Population } from "./population.ts";
import { Program } from "./program.ts";

export interface WorldOptions {
  readonly product: Product;
  readonly load: LoadModules<Operations>;
  readonly population: Population;
  /** The limits of each partition key. */
  readonly rates: PartitionRates;
  /** The read units a second that commands use at most. */
  readonly units: number;
  readonly seed: number;
}

const clients = { createsPerSecond: 10, listsPerSecond: 10 };
const changesPerSecond = 1;
const statuses = ["new", "qualified", "booked"] as const;

/** The most seconds that a command may take. */
const mostSeconds = 7200;

/** The service with a populated account, its clients, and an operator who changes old leads. */
export class World {
  readonly simulation: Simulation;
  readonly random: () => number;
  readonly #options: WorldOptions;
  #programs = 0;

  constructor(options: WorldOptions) {
    this.#options = options;
    const { product, population, rates, seed } = options;
    const { leadBytes, sources, stored, ids } = population;
    this.random = seeded(seed + 2);
    this.simulation = new Simulation({
      ...{ product, rates, seed, leadBytes, sources, stored },
      accounts: [account],
    });
    this.simulation.setLoads({ [account]: clients });
    const operator = this.start();
    new Arrivals(this.simulation.service.clock, this.random).start(changesPerSecond, () =>
      // A change that the table throttles is not made.
      operator.setLeadStatus(pick(this.random, ids), pick(this.random, statuses)).catch(() => {}),
    );
  }

  /** Starts the operators' program. */
  start(): Program {
    const { load, units, seed } = this.#options;
    const { service } = this.simulation;
    return new Program({ load, service, account, units, seed: seed + 3 + this.#programs++ });
  }

  /** Runs everything until a command ends, or until `stop` holds. @returns undefined if it has not ended */
  run = <T>(command: Promise<T>, stop?: () => boolean) =>
    runToEnd(this.simulation.service.clock, command, mostSeconds, stop);

  /** Runs a command of its own program. @returns undefined if it failed */
  async ask<T>(command: (program: Program) => Promise<T>): Promise<T | undefined> {
    const outcome = await this.run(command(this.start()));
    return outcome && "value" in outcome ? outcome.value : undefined;
  }

  /** The seconds since a time. */
  since = (time: number) => Math.round((this.simulation.service.clock.now - time) / 1000);
}
