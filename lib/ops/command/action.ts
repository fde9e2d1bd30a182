import type { Pace } from "../../../shared/dynamodb/pace.ts";
import { formatColumns } from "../output/columns.ts";
import { InvalidItems } from "../table/invalid-items.ts";
import type { AccountOptions, TableOptions } from "./command.ts";
import { checkAccount } from "./known-account.ts";
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

/** @returns whether there is something to print */
export function print({ json: isJson = false }: TableOptions, { json, text }: Printed): boolean {
  const printed = isJson ? JSON.stringify(json) : text;
  if (printed) console.log(printed);
  return Boolean(printed);
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
    const isPrinted = print(options, printed);
    if (printed.failure) throw Object.assign(printed.failure, { isPrinted });
    invalid.print();
  };

/** The same on an account that exists. */
export const onAccount = <Options extends AccountOptions>(act: Action<Options>) =>
  onTable<Options>(async (options, tools) => {
    await checkAccount(options, tools.pace);
    return act(options, tools);
  });
