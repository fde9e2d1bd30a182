import { CredentialsProviderError } from "@smithy/core/config";

/** A function has no files with settings: the SDK goes on to its defaults. */
export const fromSharedConfigFiles = () => async () => {
  throw new CredentialsProviderError("A function has no configuration files.");
};
