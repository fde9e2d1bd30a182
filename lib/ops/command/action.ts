import { once } from "node:events";
import { createInterface } from "node:readline/promises";
import { accountKey } from "../../../shared/dynamodb/keys.ts";
import type { AnyPace, Pace } from "../../../shared/dynamodb/pace.ts";
import { tableName } from "../../../shared/dynamodb/table-client.ts";
import { UserError } from "../../user-error.ts";
import { formatColumns } from "../output/columns.ts";
import { InvalidItems } from "../table/invalid-items.ts";
import { readEach } from "../table/read-items.ts";
import { type AccountOptions, opsCommand, type TableOptions } from "./command.ts";
import { selectTableByOptions } from "./select-table.ts";

/** What a command prints: with `--json` a value, or else a text. */
export interface Printed {
  readonly json?: unknown;
  readonly text?: string;
  /** Why the command fails although it has done something. The items that it has left out are then not printed. */
  readonly failure?: Error | undefined;
}

/** Rows in columns. @param none what is printed in place of no rows */
export const inColumns = (
  json: readonly Readonly<Record<string, unknown>>[],
  none: string,
  columns?: readonly string[],
): Printed => ({ json, text: json.length === 0 ? none : formatColumns(json, columns) });

export function print({ json: isJson = false }: TableOptions, { json, text }: Printed): void {
  const printed = isJson ? JSON.stringify(json) : text;
  if (printed) console.log(printed);
}

/** What the action of a command works with. */
export interface Tools {
  readonly pace: Pace;
  /** Receives the items that the command leaves out. */
  readonly invalid: InvalidItems;
}

type Action<Options> = (options: Options, tools: Tools) => Promise<Printed>;

/** Runs an action on the table that the options name, and prints what it returns and what it has left out. */
export const onTable =
  <Options extends TableOptions>(act: Action<Options>) =>
  async (options: Options): Promise<void> => {
    const invalid = new InvalidItems();
    const pace = await selectTableByOptions(options);
    const printed = await act(options, { pace, invalid });
    print(options, printed);
    if (printed.failure) throw printed.failure;
    invalid.print();
  };

/** The same on an account that exists. */
export const onAccount = <Options extends AccountOptions>(act: Action<Options>) =>
  onTable<Options>(async (options, tools) => {
    await checkAccount(options, tools.pace);
    return act(options, tools);
  });

/**
 * Checks that an account exists.
 *
 * A command that reads an item of the account needs the check only when there is no such item.
 *
 * @throws UserError with the commands that list accounts and create one
 */
export async function checkAccount({ account, ...options }: AccountOptions, pace: AnyPace): Promise<void> {
  const [item] = await readEach([accountKey(account)], pace);
  if (item) return;
  throw new UserError(
    `There is no account ${account} in the table ${tableName}. See ${opsCommand(options, "accounts list")}, or create it with ${opsCommand(options, `keys issue --account ${account}`)}.`,
  );
}

/** The error for an item that an account does not have, or for the account that does not exist. */
export async function unknownItem(options: AccountOptions, item: string, pace: AnyPace): Promise<Error> {
  await checkAccount(options, pace);
  return new UserError(`The account ${options.account} has no ${item}.`);
}

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
