import { Command, Option } from "commander";
import ms from "ms";
import { type Access, type ApiKey, accesses, apiKeyState } from "../../../shared/domain/api-key-validity.ts";
import { UserError } from "../../user-error.ts";
import { type AccountOptions, command, opsCommand } from "../command/command.ts";
import { confirm, yesOption } from "../command/confirm.ts";
import { checkAccount } from "../command/known-account.ts";
import { selectTableByOptions } from "../command/select-table.ts";
import { toPartialFailure } from "../output/aws-errors.ts";
import { formatColumns } from "../output/columns.ts";
import { endApiKey, issueApiKey, listApiKeys } from "./api-key-changes.ts";
import { findKey, type KeyOptions, keyOption, parseDuration, validForOption } from "./key-options.ts";

/** `keys issue|list|revoke|rotate`: the API keys of an account. */
export function keysCommand(): Command {
  const keys = new Command("keys").description("issue, list, revoke and rotate the API keys of an account");
  keys.addCommand(
    command("issue", "issue a key; it is printed once and cannot be shown again", { writes: true })
      .option("--label <text>", "a note that `keys list` shows")
      .addOption(new Option("--access <access>", "what the key may do").choices(accesses).default("full"))
      .addOption(validForOption())
      .action(issue),
  );
  keys.addCommand(command("list", "list all keys, oldest first").action(list));
  keys.addCommand(
    command("revoke", "end a key now; authorizers can accept it until their cache expires", endsKey)
      .addOption(keyOption())
      .addOption(yesOption())
      .action(revoke),
  );
  keys.addCommand(
    command("rotate", "replace a key with a new one; the old key still works during the overlap", endsKey)
      .addOption(keyOption())
      .addOption(
        new Option("--overlap <duration>", "how long the old key still works: 90s, 24h, 7d")
          .argParser(parseDuration)
          .default(ms("24h"), "24h"),
      )
      .addOption(validForOption())
      .addOption(yesOption())
      .action(rotate),
  );
  return keys;
}

/** A whole key names its account. */
const endsKey = { account: "optional", writes: true } as const;

/** The ISO 8601 UTC timestamp of the time after a duration, in milliseconds. */
const timestampAfter = (milliseconds: number) => new Date(Date.now() + milliseconds).toISOString();

const newKeyFields = (access: Access, label: string | undefined, validFor: number | undefined) => ({
  access,
  ...(label !== undefined && { label }),
  ...(validFor !== undefined && { validUntil: timestampAfter(validFor) }),
});

async function issue(
  options: AccountOptions & { access: Access; label?: string; validFor?: number },
): Promise<void> {
  await selectTableByOptions(options);
  const { account, access, label, validFor, json } = options;
  const issued = await issueApiKey(account, newKeyFields(access, label, validFor));
  console.log(json ? JSON.stringify(issued) : issued.apiKey);
}

async function list(options: AccountOptions): Promise<void> {
  await selectTableByOptions(options);
  const keys = (await listApiKeys(options.account)).map((key) => ({ ...key, state: apiKeyState(key) }));
  if (keys.length === 0) await checkAccount(options);
  if (options.json) return console.log(JSON.stringify(keys));
  if (keys.length === 0) return console.log(`The account ${options.account} has no keys.`);
  const columns = ["keyId", "state", "access", "createdAt", "validUntil", "revokedAt", "label"];
  console.log(formatColumns(keys, columns));
}

/** Asks before a key ends: nothing can extend it. */
async function confirmEnd({ keyId, accountId, label }: ApiKey, action: string, yes = false): Promise<void> {
  const name = label === undefined ? "has no label" : `has the label ${JSON.stringify(label)}`;
  if (!yes) console.error(`The key ${keyId} of the account ${accountId} ${name}.`);
  await confirm(keyId, { kind: "key", by: "id", action }, yes);
}

async function revoke(options: KeyOptions): Promise<void> {
  const { json, yes } = options;
  const { reference, key } = await findKey(options);
  const { keyId, revokedAt } = key;
  if (revokedAt) throw new UserError(`The key ${keyId} was already revoked at ${revokedAt}.`);
  await confirmEnd(key, "revoke it", yes);
  const revoked = await endApiKey(reference, { revokedAt: timestampAfter(0) });
  console.log(json ? JSON.stringify(revoked) : `The key ${keyId} is revoked.`);
}

async function rotate(options: KeyOptions & { overlap: number; validFor?: number }): Promise<void> {
  const { overlap, validFor, json, yes } = options;
  const { reference, key: old } = await findKey(options);
  const { keyId, accountId } = old;
  const onKey = (command: string) => opsCommand(options, `keys ${command} --account ${accountId}`);
  const state = apiKeyState(old);
  if (state !== "live")
    throw new UserError(`The key ${keyId} is ${state}: issue a new one instead, with ${onKey("issue")}.`);
  await confirmEnd(old, "replace it", yes);
  const validUntil = earlierTime(old.validUntil, timestampAfter(overlap));
  const issued = await issueApiKey(accountId, newKeyFields(old.access, old.label, validFor));
  // Printed before the next call can fail, because it cannot be shown again.
  if (!json) console.log(issued.apiKey);
  let replaced: ApiKey | undefined;
  try {
    replaced = await endApiKey(reference, { validUntil });
  } catch (error) {
    throw await toPartialFailure(
      error,
      (reason) =>
        `The new key is issued, but the end of the key ${keyId} could not be set: ${reason} When the new key is in use, run ${onKey(`revoke --key ${keyId}`)}.`,
    );
  } finally {
    if (json) console.log(JSON.stringify({ issued, replaced }));
  }
  if (!json) console.error(`The key ${keyId} is valid until ${replaced?.validUntil}.`);
}

const earlierTime = (end: string | undefined, other: string) =>
  end !== undefined && Date.parse(end) < Date.parse(other) ? end : other;
