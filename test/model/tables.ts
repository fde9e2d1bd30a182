import { MemoryTable } from "../support/memory-table/memory-table.ts";
import { Numbers, remember, toText } from "./texts.ts";

/** The response of a call, or its error. Equal outcomes have the same number. */
export type Outcome = { readonly number: number } & (
  | { readonly value: unknown; readonly error?: undefined }
  | { readonly value?: undefined; readonly error: Error }
);

/** Whether a command writes nothing. */
const isRead = (command: object) => /^((Batch|Transact)?Get|Query)/.test(command.constructor.name);

/** The number of a state of the table. Equal contents have the same number. */
export type TableState = number;

/** The states that a table has had, and the results of commands in each. */
export class Tables {
  readonly #memory = new MemoryTable();
  readonly #snapshots: ReturnType<MemoryTable["snapshot"]>[] = [];
  readonly #numbers = new Map<string, TableState>();
  readonly #results = new Map<string, { outcome: Outcome; table: TableState }>();
  readonly #outcomes = new Numbers();

  /** The table without items. */
  readonly empty: TableState = this.#number();

  /** Runs a command in a state. @param number identifies the command */
  run(table: TableState, command: object, number: number) {
    return remember(this.#results, `${table} ${number}`, () => {
      this.#restore(table);
      const outcome = this.#execute(command);
      return { outcome, table: isRead(command) ? table : this.#number() };
    });
  }

  /** The items of a state. */
  items(table: TableState) {
    this.#restore(table);
    return [...this.#memory.items()];
  }

  #execute(command: object): Outcome {
    try {
      const value = this.#memory.execute(command).output;
      for (const rows of [value.Items, ...Object.values(value.Responses ?? {})]) Object.freeze(rows);
      return { value: Object.freeze(value), number: this.#outcomes.of(toText(value)) };
    } catch (error) {
      if (!(error instanceof Error)) throw error;
      return { error, number: this.#outcomes.of(toText(error)) };
    }
  }

  #restore(table: TableState): void {
    const snapshot = this.#snapshots[table];
    if (snapshot) this.#memory.restore(snapshot);
  }

  #number(): TableState {
    const text = [...this.#memory.items()].map(toText).sort().join("\n");
    return remember(this.#numbers, text, () => this.#snapshots.push(this.#memory.snapshot()) - 1);
  }
}
