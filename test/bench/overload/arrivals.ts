import type { VirtualClock } from "./virtual-clock.ts";

/** Requests that arrive at random times, whatever becomes of earlier ones: a Poisson process. */
export class Arrivals {
  readonly #clock: VirtualClock;
  readonly #random: () => number;
  /** Raised with each stop, which ends the arrivals before it. */
  #generation = 0;

  constructor(clock: VirtualClock, random: () => number) {
    this.#clock = clock;
    this.#random = random;
  }

  /** Lets requests arrive from now on, besides all others. @param perSecond the mean rate */
  start(perSecond: number, send: () => Promise<void>): void {
    if (perSecond > 0) this.#next(perSecond, send, this.#generation);
  }

  /** Ends all arrivals. */
  stop(): void {
    this.#generation++;
  }

  #next(perSecond: number, send: () => Promise<void>, generation: number): void {
    const wait = (-Math.log(1 - this.#random()) / perSecond) * 1000;
    this.#clock.after(wait, () => {
      if (generation !== this.#generation) return;
      void send();
      this.#next(perSecond, send, generation);
    });
  }
}
