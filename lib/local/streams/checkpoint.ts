/** How far a shard has been delivered, though its records are delivered side by side. */
export class Checkpoint {
  readonly #open: { readonly sequenceNumber: string; done: boolean }[] = [];
  #position: string | undefined;

  /** @param position the last record that an earlier run has delivered */
  constructor(position?: string) {
    this.#position = position;
  }

  /** The sequence number of the last record before which, itself included, all have been delivered. */
  get position(): string | undefined {
    return this.#position;
  }

  /** How many records were read and count as delivered only when those before them do. */
  get open(): number {
    return this.#open.length;
  }

  /** Takes in the next record. @returns what to call when it has been delivered */
  add(sequenceNumber: string): () => void {
    const entry = { sequenceNumber, done: false };
    this.#open.push(entry);
    return () => {
      entry.done = true;
      const next = this.#open.findIndex(({ done }) => !done);
      const delivered = this.#open.splice(0, next < 0 ? this.#open.length : next);
      this.#position = delivered.at(-1)?.sequenceNumber ?? this.#position;
    };
  }
}
