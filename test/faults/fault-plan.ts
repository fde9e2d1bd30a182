import { seeded } from "../support/random.ts";
import { type Exchange, pass } from "./exchange.ts";
import { type FaultKind, faultKinds } from "./fault-kinds.ts";

/** The share of the calls to which a fault applies that fail with it, from 0 to 1, by kind. */
export type Rates = Partial<Readonly<Record<FaultKind, number>>>;

/** Injects random faults, the same for the same seed and order of calls. */
export class FaultPlan {
  /** How many faults of each kind were injected. */
  readonly injected = new Map<FaultKind, number>();
  readonly #rates: readonly (readonly [FaultKind, number])[];
  readonly #random: () => number;

  constructor(rates: Rates, seed: number) {
    this.#rates = Object.entries(rates) as [FaultKind, number][];
    this.#random = seeded(seed);
  }

  handle = async (exchange: Exchange): Promise<unknown> => {
    const kind = this.#choose(exchange);
    if (!kind) return pass(exchange);
    this.injected.set(kind, (this.injected.get(kind) ?? 0) + 1);
    return faultKinds[kind].inject(exchange, this.#random);
  };

  #choose(exchange: Exchange): FaultKind | undefined {
    let number = this.#random();
    for (const [kind, rate] of this.#rates) {
      if (!faultKinds[kind].applies(exchange)) continue;
      if (number < rate) return kind;
      number -= rate;
    }
    return undefined;
  }
}
