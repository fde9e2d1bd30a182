import { once } from "node:events";
import { createInterface } from "node:readline/promises";
import { Option } from "commander";
import { UserError } from "../../errors.ts";

/** The option of every command that asks before it does what cannot be undone. */
export const yesOption = () => new Option("--yes", "do not ask");

/**
 * Asks for a name, before a command does what cannot be undone.
 *
 * @param what what the name is, and what the command does, for the question: "account" and "erase it"
 * @param yes whether not to ask
 * @throws UserError when another name is typed, or none
 */
export async function confirm(
  name: string,
  what: { readonly kind: string; readonly action: string },
  yes = false,
): Promise<void> {
  if (yes) return;
  const terminal = createInterface({ input: process.stdin, output: process.stderr });
  const closed = once(terminal, "close").then(() => "");
  const question = `This cannot be undone. Type the name of the ${what.kind} to ${what.action}: `;
  const typed = await Promise.race([terminal.question(question), closed]);
  terminal.close();
  if (typed.trim() !== name)
    throw new UserError(`That is not the name of the ${what.kind}: nothing was changed. Scripts use --yes.`);
}
