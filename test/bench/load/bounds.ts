/**
 * How many things of each kind there are by now, as far as a client can know: at least those whose making was answered,
 * at most those whose making was begun.
 */
export class Bounds {
  readonly #begun = new Map<string, number>();
  readonly #made = new Map<string, number>();

  begin(kinds: readonly string[]): void {
    for (const kind of kinds) this.#begun.set(kind, this.most(kind) + 1);
  }

  made(kinds: readonly string[]): void {
    for (const kind of kinds) this.#made.set(kind, this.least(kind) + 1);
  }

  least(kind: string): number {
    return this.#made.get(kind) ?? 0;
  }

  most(kind: string): number {
    return this.#begun.get(kind) ?? 0;
  }
}
