import { Command, InvalidArgumentError, Option } from "commander";
import ms from "ms";
import type { ApiKey } from "../../shared/api-keys.ts";
import { stages } from "../../shared/stages.ts";
import { type ConnectionOptions, connect } from "./connection.ts";
import { after, duration } from "./durations.ts";
import { OperatorError } from "./errors.ts";

interface KeysOptions extends ConnectionOptions {
  readonly account: string;
  readonly json?: boolean;
}

/** `keys issue|list|revoke|rotate`: the API keys of an account. */
export function keysCommand(): Command {
  const keys = new Command("keys").description("issue, list, revoke and rotate an account's API keys");
  keys.addCommand(
    keysSubcommand("issue", "issue a key; it is printed once and cannot be shown again")
      .option("--label <text>", "a note that `keys list` shows")
      .addOption(validForOption())
      .action(issue),
  );
  keys.addCommand(keysSubcommand("list", "list all keys, oldest first").action(list));
  keys.addCommand(
    keysSubcommand("revoke", "end a key now; authorizers may admit it until their cache has expired")
      .requiredOption("--key <keyId>", "the key's id, as `keys list` shows it")
      .action(revoke),
  );
  keys.addCommand(
    keysSubcommand("rotate", "issue a key in place of another, which goes on working for a while")
      .requiredOption("--key <keyId>", "the id of the key to replace")
      .addOption(overlapOption())
      .addOption(validForOption())
      .action(rotate),
  );
  return keys;
}

function keysSubcommand(name: string, description: string): Command {
  return new Command(name)
    .description(description)
    .requiredOption("--account <id>", "the account", accountId)
    .addOption(new Option("--local", "the table of the running `npm start`").conflicts(["stage", "table"]))
    .addOption(
      new Option("--stage <name>", "the table of a deployed stage").choices(stages).conflicts("table"),
    )
    .option("--table <name>", "the table of this name")
    .option("--json", "print JSON");
}

const validForOption = () =>
  new Option("--valid-for <duration>", "how long the key works: 12h, 90d (default: for ever)").argParser(
    duration,
  );

const overlapOption = () =>
  new Option("--overlap <duration>", "how long the old key works on: 90s, 24h, 7d")
    .argParser(duration)
    .default(ms("24h"), "24h");

function accountId(text: string): string {
  if (!/^[\w.-]{1,64}$/.test(text)) {
    throw new InvalidArgumentError("An account's id has 1 to 64 letters, digits, '_', '.' or '-'.");
  }
  return text;
}

/** The module is imported only here, because it connects to the table that `connect` has chosen. */
async function apiKeys(options: ConnectionOptions) {
  await connect(options);
  return import("../../shared/api-keys.ts");
}

async function issue(options: KeysOptions & { label?: string; validFor?: number }): Promise<void> {
  const { issueApiKey } = await apiKeys(options);
  const { label, validFor } = options;
  const issued = await issueApiKey(options.account, {
    ...(label !== undefined && { label }),
    ...(validFor !== undefined && { validUntil: after(validFor) }),
  });
  console.log(options.json ? JSON.stringify(issued) : issued.apiKey);
}

async function list(options: KeysOptions): Promise<void> {
  const { listApiKeys, apiKeyState } = await apiKeys(options);
  const keys = (await listApiKeys(options.account)).map((key) => ({ ...key, state: apiKeyState(key) }));
  if (options.json) return console.log(JSON.stringify(keys));
  if (keys.length === 0) return console.log(`The account ${options.account} has no keys.`);
  console.table(keys, ["keyId", "state", "createdAt", "validUntil", "revokedAt", "label"]);
}

async function revoke(options: KeysOptions & { key: string }): Promise<void> {
  const { endApiKey } = await apiKeys(options);
  const { revokedAt } = await findKey(options);
  if (revokedAt) throw new OperatorError(`The key ${options.key} was revoked before, at ${revokedAt}.`);
  const ended = await endApiKey(options.account, options.key, { revokedAt: after(0) });
  console.log(options.json ? JSON.stringify(ended) : `The key ${options.key} is revoked.`);
}

async function rotate(
  options: KeysOptions & { key: string; overlap: number; validFor?: number },
): Promise<void> {
  const { issueApiKey, endApiKey, apiKeyState } = await apiKeys(options);
  const old = await findKey(options);
  const state = apiKeyState(old);
  if (state !== "live")
    throw new OperatorError(`The key ${options.key} is ${state}; issue a new one instead.`);
  const { label } = old;
  const issued = await issueApiKey(options.account, {
    ...(label !== undefined && { label }),
    ...(options.validFor !== undefined && { validUntil: after(options.validFor) }),
  });
  // Printed before anything else can fail: it cannot be shown again.
  if (!options.json) console.log(issued.apiKey);
  let replaced: ApiKey | undefined;
  try {
    const validUntil = earlier(old.validUntil, after(options.overlap));
    replaced = await endApiKey(options.account, options.key, { validUntil });
  } catch (cause) {
    throw new OperatorError(
      `The new key is issued, but the key ${options.key} could not be ended (${String(cause)}): revoke it once the new one is in use.`,
      { cause },
    );
  } finally {
    if (options.json) console.log(JSON.stringify({ issued, replaced }));
  }
  if (!options.json) console.error(`The key ${options.key} works until ${replaced?.validUntil}.`);
}

const earlier = (end: string | undefined, other: string) =>
  end !== undefined && Date.parse(end) < Date.parse(other) ? end : other;

async function findKey(options: KeysOptions & { key: string }): Promise<ApiKey> {
  const { listApiKeys } = await apiKeys(options);
  const key = (await listApiKeys(options.account)).find(({ keyId }) => keyId === options.key);
  if (!key) throw new OperatorError(`The account ${options.account} has no key ${options.key}.`);
  return key;
}
