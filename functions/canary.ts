import { GetParameterCommand, SSMClient } from "@aws-sdk/client-ssm";
import { runCanary } from "../shared/canary.ts";
import { maskedFailures } from "../shared/logging/masked-failures.ts";

const { API_URL = "", KEY_PARAMETER = "" } = process.env;

const parameters = new SSMClient({ requestHandler: { connectionTimeout: 1000, requestTimeout: 2000 } });

/**
 * Uses the API from outside as a caller does, and fails if the API does not work. An operator stores its key as an encrypted
 * parameter, which each run reads again, so that a new key works at once.
 */
export const handler = maskedFailures(async (): Promise<void> => {
  const command = new GetParameterCommand({ Name: KEY_PARAMETER, WithDecryption: true });
  const { Parameter } = await parameters.send(command);
  await runCanary(API_URL, Parameter?.Value);
});
