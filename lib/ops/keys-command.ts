import { Command, Option } from "commander";
import ms from "ms";
import type { ApiKey } from "../../shared/domain/api-keys.ts";
import { UserError } from "../errors.ts";
import {
  type AccountOptions,
  accountCommand,
  type WritingOptions,
  writingCommand,
} from "./account-command.ts";
import { after, duration } from "./durations.ts";
import { type ConnectionOptions, selectTable } from "./select-table.ts";

/** `keys issue|list|revoke|rotate`: the API keys of an account. */
export function keysCommand(): Command {
  const keys = new Command("keys").description("issue, list, revoke and rotate an account's API keys");
  keys.addCommand(
    writingCommand("issue", "issue a key; it is printed once and cannot be shown again")
      .option("--label <text>", "a note that `keys list` shows")
      .addOption(validForOption())
      .action(issue),
  );
  keys.addCommand(accountCommand("list", "list all keys, oldest first").action(list));
  keys.addCommand(
    writingCommand("revoke", "end a key now; authorizers may admit it until their cache has expired")
      .requiredOption("--key <keyId>", "the key's id, as `keys list` shows it", parseKeyId)
      .action(revoke),
  );
  keys.addCommand(
    writingCommand("rotate", "issue a key in place of another, which goes on working for a while")
      .requiredOption("--key <keyId>", "the id of the key to replace", parseKeyId)
      .addOption(overlapOption())
      .addOption(validForOption())
      .action(rotate),
  );
  return keys;
}

const validForOption = () =>
  new Option("--valid-for <duration>", "how long the key works: 12h, 90d (default: for ever)").argParser(
    duration,
  );

const overlapOption = () =>
  new Option("--overlap <duration>", "how long the old key works on: 90s, 24h, 7d")
    .argParser(duration)
    .default(ms("24h"), "24h");

/** A whole key is taken for its id, and so never printed: it may have come here from where it leaked. */
const parseKeyId = (text: string) => /^lck_([^_]*)/.exec(text)?.[1] ?? text;

/** The module is imported only here, because it connects to the table that `selectTable` has chosen. */
async function apiKeys(options: ConnectionOptions) {
  await selectTable(options);
  return import("../../shared/domain/api-keys.ts");
}

async function issue(options: WritingOptions & { label?: string; validFor?: number }): Promise<void> {
  const { issueApiKey } = await apiKeys(options);
  const { account, label, validFor, json } = options;
  const given = {
    ...(label !== undefined && { label }),
    ...(validFor !== undefined && { validUntil: after(validFor) }),
  };
  if (options.dryRun) {
    const sentence = `A key of the account ${account} would be issued, to work ${given.validUntil ? `until ${given.validUntil}` : "for ever"}.`;
    return console.log(json ? JSON.stringify({ accountId: account, ...given }) : sentence);
  }
  const issued = await issueApiKey(account, given);
  console.log(json ? JSON.stringify(issued) : issued.apiKey);
}

async function list(options: AccountOptions): Promise<void> {
  const { listApiKeys, apiKeyState } = await apiKeys(options);
  const keys = (await listApiKeys(options.account)).map((key) => ({ ...key, state: apiKeyState(key) }));
  if (options.json) return console.log(JSON.stringify(keys));
  if (keys.length === 0) return console.log(`The account ${options.account} has no keys.`);
  console.table(keys, ["keyId", "state", "createdAt", "validUntil", "revokedAt", "label"]);
}

async function revoke(options: WritingOptions & { key: string }): Promise<void> {
  const { endApiKey } = await apiKeys(options);
  const { account, key, json, dryRun } = options;
  const found = await findKey(options);
  if (found.revokedAt) throw new UserError(`The key ${key} was revoked before, at ${found.revokedAt}.`);
  const end = { revokedAt: after(0) };
  const ended = dryRun ? { ...found, ...end } : await endApiKey(account, key, end);
  console.log(json ? JSON.stringify(ended) : `The key ${key} ${dryRun ? "would be" : "is"} revoked.`);
}

interface RotateOptions extends WritingOptions {
  readonly key: string;
  readonly overlap: number;
  readonly validFor?: number;
}

async function rotate(options: RotateOptions): Promise<void> {
  const { apiKeyState } = await apiKeys(options);
  const old = await findKey(options);
  const state = apiKeyState(old);
  if (state !== "live") throw new UserError(`The key ${options.key} is ${state}; issue a new one instead.`);
  const validUntil = earlier(old.validUntil, after(options.overlap));
  if (options.dryRun) {
    const sentence = `A key would be issued, and the key ${options.key} would work until ${validUntil}.`;
    return console.log(options.json ? JSON.stringify({ replaced: { ...old, validUntil } }) : sentence);
  }
  await replace(options, old, validUntil);
}

/** Issues a key in place of another, which works until then. */
async function replace(options: RotateOptions, { label }: ApiKey, validUntil: string): Promise<void> {
  const { issueApiKey, endApiKey } = await apiKeys(options);
  const issued = await issueApiKey(options.account, {
    ...(label !== undefined && { label }),
    ...(options.validFor !== undefined && { validUntil: after(options.validFor) }),
  });
  // Printed before anything else can fail: it cannot be shown again.
  if (!options.json) console.log(issued.apiKey);
  let replaced: ApiKey | undefined;
  try {
    replaced = await endApiKey(options.account, options.key, { validUntil });
  } catch (cause) {
    throw new UserError(
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

async function findKey(options: AccountOptions & { key: string }): Promise<ApiKey> {
  const { listApiKeys } = await apiKeys(options);
  const key = (await listApiKeys(options.account)).find(({ keyId }) => keyId === options.key);
  if (!key) throw new UserError(`The account ${options.account} has no key ${options.key}.`);
  return key;
}
