import { InvalidArgumentError, Option } from "commander";
import ms, { type StringValue } from "ms";
import { parseApiKey } from "../../../shared/domain/api-key-format.ts";
import type { ApiKey } from "../../../shared/domain/api-key-validity.ts";
import { toApiKey } from "../../../shared/domain/api-keys.ts";
import { tableName } from "../../../shared/dynamodb/table-client.ts";
import { UserError } from "../../user-error.ts";
import { type AccountOptions, opsCommand } from "../command/command.ts";
import { unknownItem } from "../command/known-account.ts";
import { selectTableByOptions } from "../command/select-table.ts";
import { type ApiKeyReference, findApiKeyItem } from "./api-key-changes.ts";

/** The option that names a key. */
export const keyOption = () =>
  new Option("--key <key>", "the whole key, or the id that `keys list` shows; an id needs --account")
    .argParser(parseKey)
    .makeOptionMandatory();

/**
 * Keeps only the id and the digest of a whole key, so that the key is never printed.
 *
 * @throws UserError for a whole key that is mistyped; an error of the parser would print it
 */
function parseKey(text: string): ApiKeyReference {
  const key = parseApiKey(/lck_\w*/.exec(text)?.[0] ?? "");
  if (key) return key;
  if (!text.includes("_")) return { keyId: text };
  throw new UserError("The checksum of this key is wrong: it has a typo, or is cut off.");
}

/** The option for the end of a new key. */
export const validForOption = () =>
  new Option("--valid-for <duration>", "how long the key is valid: 12h, 90d (default: forever)").argParser(
    parseDuration,
  );

/** A duration in milliseconds. The unit is required, because `ms` would read a bare number as milliseconds. */
export function parseDuration(text: string): number {
  const milliseconds = /^\d+(?:s|m|h|d|w|y)$/.test(text) ? ms(text as StringValue) : 0;
  if (milliseconds > 0 && Date.now() + milliseconds <= lastDate) return milliseconds;
  throw new InvalidArgumentError("A duration is a number with a unit: 90s, 24h, 7d.");
}

/** The last time that a `Date` can have, in milliseconds since the epoch. */
const lastDate = 8.64e15;

/** The options of a command that ends a key. */
export interface KeyOptions extends Omit<AccountOptions, "account"> {
  readonly account?: string;
  readonly key: ApiKeyReference;
  readonly yes?: boolean;
}

/**
 * Selects the table, and reads the key that the options name.
 *
 * @throws UserError for an id without an account, or when there is no such key
 */
export async function findKey(options: KeyOptions): Promise<{ reference: ApiKeyReference; key: ApiKey }> {
  await selectTableByOptions(options);
  const reference = { ...options.key, account: options.account };
  const item = await findApiKeyItem(reference);
  if (item) return { reference, key: toApiKey(item) };
  const { account, keyId } = reference;
  if (account === undefined) throw new UserError(`There is no key ${keyId} in the table ${tableName}.`);
  const list = opsCommand(options, `keys list --account ${account}`);
  throw await unknownItem({ ...options, account }, `key ${keyId}: see ${list}`);
}
