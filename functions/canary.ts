import { canaryClient } from "../shared/canary/canary-client.ts";
import { runCanary } from "../shared/canary/canary-run.ts";
import { readStoredKey } from "../shared/canary/stored-key.ts";
import { maskedFailures } from "../shared/logging/masked-failures.ts";

const { API_URL = "", KEY_PARAMETER = "", KEY_ACCOUNT = "" } = process.env;

/** Uses the API from outside as a caller does; it fails if the API does not work. */
async function canary(): Promise<void> {
  await runCanary(canaryClient(API_URL, await readStoredKey(KEY_PARAMETER)), KEY_ACCOUNT);
}

export const handler = maskedFailures(canary);
