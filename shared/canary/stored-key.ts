import { GetParameterCommand, SSMClient } from "@aws-sdk/client-ssm";
import { FailedCheck } from "./canary-client.ts";

const client = new SSMClient({ requestHandler: { connectionTimeout: 1000, requestTimeout: 2000 } });

/**
 * Reads the canary's API key, which an operator has stored as an encrypted parameter. It is read anew in each run, so that
 * another key works at once.
 */
export async function readStoredKey(name: string): Promise<string> {
  const { Parameter } = await client.send(new GetParameterCommand({ Name: name, WithDecryption: true }));
  if (!Parameter?.Value) throw new FailedCheck("The parameter of the key is empty");
  return Parameter.Value;
}
