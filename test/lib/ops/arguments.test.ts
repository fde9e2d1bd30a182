import { type Command, CommanderError } from "commander";
import { expect, test } from "vitest";
import { accountsCommand } from "../../../lib/ops/accounts/accounts-command.ts";
import { apiCommand } from "../../../lib/ops/api/api-command.ts";
import { conversationsCommand } from "../../../lib/ops/conversations/conversations-command.ts";
import { countsCommand } from "../../../lib/ops/counts/counts-command.ts";
import { eventsCommand } from "../../../lib/ops/events/events-command.ts";
import { keysCommand } from "../../../lib/ops/keys/keys-command.ts";
import { leadsCommand } from "../../../lib/ops/leads/leads-command.ts";

/** Makes a command and those below it throw instead of ending the process. */
function throwing(command: Command): Command {
  command.exitOverride().configureOutput({ writeErr: () => {} });
  for (const inner of command.commands) throwing(inner);
  return command;
}

/** Parses arguments. @returns the message of the first mistake; undefined if the command would run */
async function mistake(create: () => Command, name: string, args: readonly string[]) {
  const command = throwing(create());
  for (const inner of command.commands) inner.action(() => {});
  try {
    await command.parseAsync([name, "--account", "acme", "--table", "unit", ...args], { from: "user" });
    return undefined;
  } catch (error) {
    if (error instanceof CommanderError) return error.message;
    throw error;
  }
}

const lead = ["--lead", "lead_1"];
const conversation = ["--conversation", "conv_1"];
const score = "A score is a whole number from 0 to 100.";
const status = "A status has 1 to 64 characters, and no control characters.";
const duration = "A duration is a number with a unit: 90s, 24h, 7d.";
const rate = "A rate is a whole number above 0.";
const units = "Units are a whole number above 0.";
const limit = "A limit is a whole number from 1 to 100000000.";
const seconds = "Seconds are a whole number from 0 to 9999.";

/** The option of a command with the values at the edges of what it accepts, and with mistakes. */
const options: readonly [
  () => Command,
  command: string,
  others: readonly string[],
  option: string,
  valid: readonly string[],
  invalid: readonly string[],
  sentence: string,
][] = [
  [
    leadsCommand,
    "set-score",
    lead,
    "--score",
    ["0", "9", "99", "100"],
    ["-1", "101", "999", "1.5", "", "x"],
    score,
  ],
  [
    leadsCommand,
    "set-status",
    lead,
    "--status",
    ["new", "booked"],
    ["New", "lost", ""],
    "Allowed choices are",
  ],
  [leadsCommand, "import", ["a.csv"], "--rate", ["1", "999999"], ["0", "1000000", "-5", "1.5", "x"], rate],
  [
    conversationsCommand,
    "set-status",
    conversation,
    "--status",
    ["a", "on hold", "\u{1F600}".repeat(64)],
    ["", "a".repeat(65), "a\nb", "\u0007"],
    status,
  ],
  [
    keysCommand,
    "issue",
    [],
    "--valid-for",
    ["1s", "90d", "10y"],
    ["", "30", "0d", "-1d", "1.5h", "999999y"],
    duration,
  ],
  [keysCommand, "issue", [], "--access", ["full", "read"], ["write", "FULL", ""], "Allowed choices are"],
  [keysCommand, "rotate", ["--key", "x"], "--overlap", ["1m", "7d", "2w"], ["24", "0s", "soon"], duration],
  [
    accountsCommand,
    "set-limit",
    [],
    "--requests",
    ["1", "100000000"],
    ["0", "100000001", "-1", "1e3"],
    limit,
  ],
  [accountsCommand, "erase", [], "--cache-seconds", ["0", "9999"], ["10000", "-1", "1.5", "x"], seconds],
  [
    accountsCommand,
    "export",
    [],
    "--output",
    ["a.jsonl"],
    ["a.csv", "jsonl", ""],
    "The file must end in .jsonl.",
  ],
  [countsCommand, "rebuild", [], "--units", ["1", "9999999"], ["0", "10000000", "x", ""], units],
  [
    eventsCommand,
    "republish",
    [],
    "--since",
    ["0000000000", "2026-01-31T09:30:00Z"],
    ["now", "-1", "2026"],
    "A time is",
  ],
  [
    eventsCommand,
    "republish",
    ["--since=0000000000"],
    "--types",
    ["lead.created"],
    ["leads"],
    "The types are ",
  ],
];

test.each(options)("%o %s", async (create, command, others, option, valid, invalid, sentence) => {
  for (const value of valid)
    expect([value, await mistake(create, command, [...others, `${option}=${value}`])]).toEqual([
      value,
      undefined,
    ]);
  for (const value of invalid) {
    const message = await mistake(create, command, [...others, `${option}=${value}`]);
    expect([value, message]).toEqual([value, expect.stringContaining(sentence)]);
  }
});

test.each([
  "http://127.0.0.1:3000",
  "https://api.example.com/",
])("the address %s can be checked", async (url) => {
  const command = throwing(apiCommand());
  for (const inner of command.commands) inner.action(() => {});
  await command.parseAsync(["check", "--url", url], { from: "user" });
});

test.each([
  "",
  "api.example.com",
  "ftp://api.example.com",
  "file:///etc",
])("the address %j cannot", async (url) => {
  const checking = throwing(apiCommand()).parseAsync(["check", `--url=${url}`], { from: "user" });
  await expect(checking).rejects.toThrow("An address is a URL such as https://api.example.com.");
});
