import { runCanary } from "../shared/canary.ts";
import { readParameter } from "../shared/channels/secrets.ts";
import { maskedFailures } from "../shared/logging/masked-failures.ts";

const { API_URL = "", KEY_PARAMETER = "" } = process.env;

/**
 * Uses the API from outside as a caller does, and fails if the API does not work. An operator stores its key as an encrypted
 * parameter, which each run reads again, so that a new key works at once.
 */
export const handler = maskedFailures(async () => runCanary(API_URL, await readParameter(KEY_PARAMETER)));
