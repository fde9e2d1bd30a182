/** How far a shard has been delivered, although its records are delivered concurrently. */
export class Checkpoint {
  readonly #pending: { readonly sequenceNumber: string; delivered: boolean }[] = [];
  #position: string | undefined;

  /** @param position the sequence number up to which an earlier run has delivered */
  constructor(position?: string) {
    this.#position = position;
  }

  /** The sequence number up to which all records have been delivered. */
  get position(): string | undefined {
    return this.#position;
  }

  /** How many records have been read but are not yet covered by the position. */
  get pending(): number {
    return this.#pending.length;
  }

  /** Adds the next record. @returns the function to call when it has been delivered */
  add(sequenceNumber: string): () => void {
    const entry = { sequenceNumber, delivered: false };
    this.#pending.push(entry);
    return () => {
      entry.delivered = true;
      const next = this.#pending.findIndex(({ delivered }) => !delivered);
      const covered = this.#pending.splice(0, next < 0 ? this.#pending.length : next);
      this.#position = covered.at(-1)?.sequenceNumber ?? this.#position;
    };
  }
}
