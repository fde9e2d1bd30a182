/** The sort keys of an account's rows, as they landed in the table. */
export class Landings {
  /** In the order of their landing. */
  readonly #landed: string[] = [];
  readonly #sorted: string[] = [];

  get count(): number {
    return this.#landed.length;
  }

  add(sortKey: string): void {
    this.#landed.push(sortKey);
    this.#sorted.splice(this.#countUpTo(sortKey), 0, sortKey);
  }

  /** The rows that landed after the first `count` ones. */
  since = (count: number): readonly string[] => this.#landed.slice(count);

  /** The number of rows after a sort key. */
  countAfter = (sortKey: string): number => this.#sorted.length - this.#countUpTo(sortKey);

  /** The number of rows with this sort key or an earlier one. */
  #countUpTo(sortKey: string): number {
    const sorted = this.#sorted;
    let high = sorted.length;
    // Rows mostly come in order.
    if (high === 0 || (sorted[high - 1] ?? "") <= sortKey) return high;
    let low = 0;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if ((sorted[middle] ?? "") <= sortKey) low = middle + 1;
      else high = middle;
    }
    return low;
  }
}
