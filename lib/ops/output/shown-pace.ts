import { Pace } from "../../../shared/dynamodb/pace.ts";

/** How often it is shown how far a command is, in milliseconds. */
const interval = 10_000;

/** A pace that says at a terminal, every ten seconds, how many read units the command has used. */
export class ShownPace extends Pace {
  #used = 0;
  #shownAt = Date.now();

  override spend(units: number): Promise<void> {
    this.#used += units;
    if (process.stderr.isTTY && Date.now() - this.#shownAt >= interval) {
      this.#shownAt = Date.now();
      console.error(`${Math.round(this.#used).toLocaleString("en")} read units used so far.`);
    }
    return super.spend(units);
  }
}
