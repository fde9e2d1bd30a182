import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { type Command, CommanderError } from "commander";
import { expect, test } from "vitest";
import { accountsCommand } from "../../../lib/ops/accounts/accounts-command.ts";
import { channelsCommand } from "../../../lib/ops/channels/channels-command.ts";
import { countsCommand } from "../../../lib/ops/counts/counts-command.ts";
import { eventsCommand } from "../../../lib/ops/events/events-command.ts";
import { keysCommand } from "../../../lib/ops/keys/keys-command.ts";
import { leadsCommand } from "../../../lib/ops/leads/leads-command.ts";

const commands = {
  keys: keysCommand,
  leads: leadsCommand,
  counts: countsCommand,
  events: eventsCommand,
  accounts: accountsCommand,
  channels: channelsCommand,
};

/** Makes a command and its subcommands do nothing, and throw instead of ending the process. */
function idle(command: Command): Command {
  command.exitOverride().configureOutput({ writeErr: () => {} });
  command.action(() => {});
  for (const inner of command.commands) idle(inner);
  return command;
}

/** Parses arguments that end with an option. @returns the message of the first mistake; undefined if the command would run */
async function mistake(line: string, value: string): Promise<string | undefined> {
  const [group = "", name = "", ...options] = `${line}=`.split(" ");
  const args = [name, "--account", "acme", "--table", "unit", ...options];
  args.push(`${args.pop()}${value}`);
  try {
    await idle(commands[group as keyof typeof commands]()).parseAsync(args, { from: "user" });
    return undefined;
  } catch (error) {
    if (error instanceof CommanderError) return error.message;
    throw error;
  }
}

const names = ["", " ", "a b", "a#b", "a/b", "é", "a\n", "a".repeat(65)];
const durations = ["", "30", "0d", "-1d", "1.5h", "999999y"];
const limits = ["0", "100000001", "-1", "1e3", "none"];

/** Options of commands, values at the edges of what they accept, and mistakes. */
test.each<[line: string, valid: string[], invalid: string[], sentence: string]>([
  [
    "keys list --account",
    ["a", "A.b-c_9", "a".repeat(64)],
    names,
    "has 1 to 64 letters, digits, '_', '.' or '-'",
  ],
  [
    "keys issue --valid-for",
    ["1s", "90d", "10y"],
    durations,
    "A duration is a number of up to four digits with a unit: 90s, 24h, 7d.",
  ],
  ["keys issue --access", ["full", "read", "create"], ["write", "FULL", ""], "Allowed choices are"],
  ["accounts set-limit --requests", ["1", "100000000", "stage"], limits, "1 to 100000000, or `stage`."],
  ["accounts erase --cache-seconds", ["0", "9999"], ["10000", "-1", "1.5", "x"], "from 0 to 9999."],
  ["leads export --output", ["leads.csv", "-.csv"], ["-"], "standard output has the summary."],
  [
    "leads import --map-value",
    ["Open=new", "a=b=booked", "NULL="],
    ["Open", "=new", "a=Open"],
    "new, qualified",
  ],
  ["leads import --encoding", ["latin1"], ["windows1252"], "Write a name of the Encoding Standard, such as "],
  ["leads import --date-format", ["M/d/yy"], ["H:mm 'y'"], "The format must have a year"],
  ["leads import --map", ["E-mail=EMAIL", "a=b=metadata.c"], ["E-mail", "=email", "a=b"], "The columns are"],
  ["counts verify --units", ["1", "9999999"], ["0", "10000000", ""], "Units are a whole number above 0."],
])("%s accepts valid values, and rejects others with a sentence", async (line, valid, invalid, sentence) => {
  for (const value of valid) expect([value, await mistake(line, value)]).toEqual([value, undefined]);
  for (const value of invalid)
    expect([value, await mistake(line, value)]).toEqual([value, expect.stringContaining(sentence)]);
});

const root = join(import.meta.dirname, "../../..");

/** A command up to the end of its line or its code, or up to a pipe or a redirection. */
const example = /\bnpm run (?:--silent )?ops -- ([a-z].*?)(?=`| [|>]|$)/gm;

const documented = globSync("{README,SECURITY,docs/*,docs/client/*}.md", { cwd: root })
  .concat("docs/delivery/github-actions.yml")
  .flatMap((file) => {
    const page = readFileSync(join(root, file), "utf8").replaceAll(/\\\n\s*/g, "");
    return [...page.matchAll(example)].map(([, text = ""]) => ({ file, text }));
  });

test.each(documented)("$file: npm run ops -- $text is a command with these options", ({ text }) => {
  const [group, name] = text.split(/\s+/);
  const found = commands[group as keyof typeof commands]?.();
  const command = found?.commands.length ? found.commands.find((inner) => inner.name() === name) : found;
  expect(command).toBeDefined();
  const options = command?.options.map(({ long }) => long) ?? [];
  expect(options).toEqual(expect.arrayContaining(text.match(/--[a-z-]+/g) ?? []));
});

test("the pages have examples of each group", () => {
  const groups = new Set(documented.map(({ text }) => text.split(" ")[0]));
  expect([...groups].sort()).toEqual(Object.keys(commands).sort());
});
