import type { Item } from "../../../shared/dynamodb/table-client.ts";
import type { InvalidItemError } from "../../../shared/errors.ts";
import { UserError } from "../../user-error.ts";
import { formatColumns } from "../output/columns.ts";
import { findOwner } from "./item-owner.ts";

/** The exit code of a command that left invalid rows or items out, or kept leads of an import that it has undone. */
export const someInvalid = 3;

/** How many invalid items are shown. */
const mostShown = 5;

const leftHint =
  "They may belong to the data to erase. Correct or delete them in the table, then run the command again (for leads, with --lead).";

/** Items that a command has left as they are or left out, by their keys. */
export class InvalidItems extends Map<string, { type: string; pk: unknown; sk: unknown; reason: string }> {
  /** Notes an item that is not valid for its type. */
  note(item: Item, reason: string): void {
    const { pk, sk } = item;
    this.set(`${pk} ${sk}`, { type: findOwner(item)?.type ?? "unknown", pk, sk, reason });
  }

  noteInvalid = ({ pk, sk, field }: InvalidItemError): void =>
    this.note({ pk, sk }, `its ${field} is invalid`);

  toSentence(outcome: string): string {
    const items = formatColumns([...this.values()].slice(0, mostShown));
    const more = this.size > mostShown ? `\nand ${this.size - mostShown} more` : "";
    return `These items were ${outcome}:\n${items}${more}`;
  }

  /** The error of an erasure that has left items as they are. */
  toFailure(): UserError | undefined {
    return this.size > 0 ? new UserError(`${this.toSentence("left as they are")}\n${leftHint}`) : undefined;
  }

  /** Names the items on stderr, if there are any, and sets the exit code of a command that has done the rest. */
  print(): void {
    if (this.size === 0) return;
    console.error(this.toSentence("left out"));
    process.exitCode = someInvalid;
  }
}
