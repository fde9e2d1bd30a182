/**
 * How many rows of each kind exist, as far as a client knows: at least those whose creation was confirmed, at most
 * those whose creation was requested.
 */
export class Bounds {
  readonly #requested = new Map<string, number>();
  readonly #created = new Map<string, number>();

  request(kinds: readonly string[]): void {
    for (const kind of kinds) this.#requested.set(kind, this.most(kind) + 1);
  }

  create(kinds: readonly string[]): void {
    for (const kind of kinds) this.#created.set(kind, this.least(kind) + 1);
  }

  least(kind: string): number {
    return this.#created.get(kind) ?? 0;
  }

  most(kind: string): number {
    return this.#requested.get(kind) ?? 0;
  }
}
