import { Option } from "commander";
import { parseApiKey } from "../../../shared/domain/api-key-format.ts";
import type { ApiKey } from "../../../shared/domain/api-keys.ts";
import { UserError } from "../../errors.ts";
import type { AccountOptions } from "../common/options.ts";
import { type ApiKeyReference, findApiKeyRecord } from "./api-key-changes.ts";

/** The option that names a key. */
export const keyOption = () =>
  new Option("--key <key>", "the whole key, or the id that `keys list` shows; an id needs --account")
    .argParser(parseKey)
    .makeOptionMandatory();

interface NamedKey {
  readonly keyId: string;
  readonly sha256?: string;
}

/** Keeps only the id and the digest of a whole key, so that the key is never printed. */
function parseKey(text: string): NamedKey {
  const [key = "", keyId = text] = /lck_([^_]*)\w*/.exec(text) ?? [];
  return parseApiKey(key) ?? { keyId };
}

/** The options of a command on one key. */
export interface KeyOptions extends Omit<AccountOptions, "account"> {
  readonly account?: string;
  readonly key: NamedKey;
}

/**
 * How a command finds the key that its options name.
 *
 * @throws UserError for an id without an account
 */
export function toReference({ account, key: { keyId, sha256 } }: KeyOptions): ApiKeyReference {
  if (sha256 !== undefined) return { keyId, sha256, account };
  if (account !== undefined) return { keyId, account };
  throw new UserError("An id needs the account of the key (--account), a whole key does not.");
}

/**
 * Reads the key.
 *
 * @throws UserError when there is no such key
 */
export async function findKey(reference: ApiKeyReference): Promise<ApiKey> {
  const key = await findApiKeyRecord(reference);
  if (key) return key;
  const { account, keyId } = reference;
  throw new UserError(
    account === undefined ? `There is no key ${keyId}.` : `The account ${account} has no key ${keyId}.`,
  );
}
