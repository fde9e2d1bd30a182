import { Command, InvalidArgumentError, Option } from "commander";
import ms, { type StringValue } from "ms";
import { parseApiKey } from "../../../shared/domain/api-key-format.ts";
import { type Access, accesses, apiKeyState } from "../../../shared/domain/api-keys.ts";
import { tableName } from "../../../shared/dynamodb/table-client.ts";
import { UserError } from "../../user-error.ts";
import {
  checkAccount,
  confirm,
  inColumns,
  onTable,
  type Printed,
  type Tools,
  unknownItem,
} from "../command/action.ts";
import { type AccountOptions, command, yesOption } from "../command/command.ts";
import { findApiKeyItem, issueApiKey, listApiKeys, revokeApiKey, toApiKey } from "./api-key-changes.ts";

export const keysCommand = () =>
  new Command("keys")
    .description("issue, list and revoke the API keys of an account")
    .addCommand(
      command("issue", "issue a key; it is printed once and cannot be shown again", { writes: true })
        .option("--label <text>", "a note that `keys list` shows")
        .addOption(new Option("--access <access>", "what the key may do").choices(accesses).default("full"))
        .option(
          "--valid-for <duration>",
          "how long the key is valid: 12h, 90d (default: forever)",
          parseDuration,
        )
        .action(onTable(issue)),
    )
    .addCommand(command("list", "list all keys, oldest first").action(onTable(list)))
    .addCommand(
      command("revoke", "end a key now; it can still work until the authorizer's cached results expire", {
        // A whole key names its account.
        account: "optional",
        // A key that has leaked is revoked also in a frozen account.
        writes: "always",
      })
        .requiredOption(
          "--key <key>",
          "the whole key, or the id that `keys list` shows; an id needs --account",
          parseKey,
        )
        .option(...yesOption)
        .action(onTable(revoke)),
    );

/**
 * Keeps only the id and the digest of a whole key, so that the key is never printed.
 *
 * @throws UserError for a whole key that is mistyped; an error of the parser would print it
 */
function parseKey(text: string) {
  const key = parseApiKey(/lck_\w*/.exec(text)?.[0] ?? "");
  if (key) return key;
  if (!text.includes("_")) return { keyId: text };
  throw new UserError("The checksum of this key is wrong: it has a typo, or is cut off.");
}

/** A duration in milliseconds. The unit is required, because `ms` would read a bare number as milliseconds. */
function parseDuration(text: string): number {
  const milliseconds = /^\d{1,4}(?:s|m|h|d|w|y)$/.test(text) ? ms(text as StringValue) : 0;
  if (milliseconds > 0) return milliseconds;
  throw new InvalidArgumentError("A duration is a number of up to four digits with a unit: 90s, 24h, 7d.");
}

async function issue(options: AccountOptions & { access: Access; label?: string; validFor?: number }) {
  const { account, access, label, validFor } = options;
  const issued = await issueApiKey(account, {
    access,
    ...(label !== undefined && { label }),
    ...(validFor !== undefined && { validUntil: new Date(Date.now() + validFor).toISOString() }),
  });
  return { json: issued, text: issued.apiKey };
}

async function list(options: AccountOptions, { pace }: Tools): Promise<Printed> {
  const keys = (await listApiKeys(options.account)).map((key) => ({ ...key, state: apiKeyState(key) }));
  if (keys.length === 0) await checkAccount(options, pace);
  const columns = ["keyId", "state", "access", "createdAt", "validUntil", "revokedAt", "label"];
  return inColumns(keys, `The account ${options.account} has no keys.`, columns);
}

async function revoke(
  options: Partial<AccountOptions> & { key: ReturnType<typeof parseKey> },
  { pace }: Tools,
) {
  const { account, key, yes } = options;
  const { keyId } = key;
  const item = await findApiKeyItem(key, account);
  if (!item && account !== undefined) throw await unknownItem({ ...options, account }, `key ${keyId}`, pace);
  if (!item) throw new UserError(`There is no key ${keyId} in the table ${tableName}.`);
  const { accountId, label, revokedAt } = toApiKey(item);
  if (revokedAt) throw new UserError(`The key ${keyId} was already revoked at ${revokedAt}.`);
  const name = label === undefined ? "has no label" : `has the label ${JSON.stringify(label)}`;
  if (!yes) {
    console.error(`The key ${keyId} of the account ${accountId} ${name}.`);
    await confirm(keyId, { kind: "key", by: "id", action: "revoke it" });
  }
  const revoked = await revokeApiKey(item);
  return { json: revoked, text: `The key ${keyId} is revoked.` };
}
