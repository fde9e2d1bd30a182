import { once } from "node:events";
import { createInterface } from "node:readline/promises";
import { UserError } from "../../user-error.ts";

/**
 * Asks for a name or an id, before a command without `--yes` does what cannot be undone.
 *
 * @param what the words for the question: what the name belongs to, such as "account", and the action, such as "erase it"
 * @throws UserError when another text is typed, or none
 */
export async function confirm(
  name: string,
  { kind, action, by = "name" }: { readonly kind: string; readonly action: string; readonly by?: string },
): Promise<void> {
  const terminal = createInterface({ input: process.stdin, output: process.stderr });
  const closed = once(terminal, "close").then(() => "");
  const question = `This cannot be undone. Type the ${by} of the ${kind} to ${action}: `;
  // Ctrl-C rejects it.
  const typed = await Promise.race([terminal.question(question).catch(() => ""), closed]);
  terminal.close();
  if (typed.trim() !== name)
    throw new UserError(`That is not the ${by} of the ${kind}: nothing was changed. In scripts, use --yes.`);
}
