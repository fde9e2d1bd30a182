import { once } from "node:events";
import { createInterface } from "node:readline/promises";
import { UserError } from "../../errors.ts";

/** Asks for the account's name. @throws UserError when another one is typed, or none */
export async function confirmAccount(account: string): Promise<void> {
  const terminal = createInterface({ input: process.stdin, output: process.stderr });
  const closed = once(terminal, "close").then(() => "");
  const question = "This cannot be undone. Type the name of the account to erase it: ";
  const name = await Promise.race([terminal.question(question), closed]);
  terminal.close();
  if (name.trim() !== account)
    throw new UserError("That is not the name of the account: nothing was erased. Scripts use --yes.");
}
