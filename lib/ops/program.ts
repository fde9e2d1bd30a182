import { Command } from "commander";
import { toUserError } from "./output/aws-errors.ts";
import { endBySignal, endingSignals } from "./output/interruption.ts";
import { escapeConsole } from "./output/printed-text.ts";

/** The commands by their names, in the order of the help. */
const commands: Readonly<Record<string, () => Promise<Command>>> = {
  keys: async () => (await import("./keys/keys-command.ts")).keysCommand(),
  leads: async () => (await import("./leads/leads-command.ts")).leadsCommand(),
  channels: async () => (await import("./channels/channels-command.ts")).channelsCommand(),
  counts: async () => (await import("./counts/counts-command.ts")).countsCommand(),
  events: async () => (await import("./events/events-command.ts")).eventsCommand(),
  accounts: async () => (await import("./accounts/accounts-command.ts")).accountsCommand(),
};

/**
 * Runs `npm run ops` with the arguments of the process.
 *
 * @throws UserError for errors that the operator can fix, also those of the AWS SDK
 */
export async function runProgram(): Promise<void> {
  escapeConsole();
  const program = new Command("npm run ops --").description(
    "The operator commands. Credentials, region and endpoint are configured as for the AWS SDK; with --stage, the stage's file can set the region.",
  );
  // Only the module of the given command is loaded: loading all of them takes longer than many commands run.
  const words = process.argv.slice(2);
  // The `help` of commander takes only one name, so it cannot name a command of a group.
  const args = words[0] === "help" ? [...words.slice(1), "--help"] : words;
  const [name = ""] = args;
  const command = Object.hasOwn(commands, name) ? commands[name] : undefined;
  for (const load of command ? [command] : Object.values(commands)) program.addCommand(await load());
  for (const signal of endingSignals) process.on(signal, endBySignal);
  try {
    await program.parseAsync(args, { from: "user" });
  } catch (cause) {
    throw await toUserError(cause);
  } finally {
    for (const signal of endingSignals) process.off(signal, endBySignal);
  }
}
