import { once } from "node:events";
import { createInterface } from "node:readline/promises";
import { UserError } from "../../errors.ts";

/** Asks for the account's name. @throws UserError when another one is typed, or none */
export const confirmAccount = (account: string) =>
  confirmName(account, {
    question: "This cannot be undone. Type the name of the account to erase it: ",
    refusal: "That is not the name of the account: nothing was erased. Scripts use --yes.",
  });

/** Asks for a name. @throws UserError with the refusal when another one is typed, or none */
export async function confirmName(
  name: string,
  { question, refusal }: { readonly question: string; readonly refusal: string },
): Promise<void> {
  const terminal = createInterface({ input: process.stdin, output: process.stderr });
  const closed = once(terminal, "close").then(() => "");
  const typed = await Promise.race([terminal.question(question), closed]);
  terminal.close();
  if (typed.trim() !== name) throw new UserError(refusal);
}
