import { GetParameterCommand, ParameterNotFound, SSMClient } from "@aws-sdk/client-ssm";

const { SECRETS_PATH = "" } = process.env;

const parameters = new SSMClient({ requestHandler: { connectionTimeout: 1000, requestTimeout: 2000 } });

/** How long an environment caches a secret, in milliseconds. A new value takes effect after this time at the latest. */
const lifetime = 60_000;

const known = new Map<string, { readonly value: Promise<string | undefined>; readonly until: number }>();

/**
 * Reads a secret of the stage, which an operator has stored as an encrypted parameter; undefined if there is none.
 *
 * @param name of the parameter, below the path of the stage
 */
export function readSecret(name: string): Promise<string | undefined> {
  const cached = known.get(name);
  if (cached && cached.until > Date.now()) return cached.value;
  const value = readParameter(`${SECRETS_PATH}/${name}`).catch((error: unknown) => {
    if (!(error instanceof ParameterNotFound)) throw error;
    return undefined;
  });
  known.set(name, { value, until: Date.now() + lifetime });
  // The next call repeats a read that has failed.
  value.catch(() => known.delete(name));
  return value;
}

/** Reads an encrypted parameter; undefined if it is empty. @throws ParameterNotFound */
export async function readParameter(Name: string): Promise<string | undefined> {
  const { Parameter } = await parameters.send(new GetParameterCommand({ Name, WithDecryption: true }));
  return Parameter?.Value || undefined;
}

/** The name of the secret that contains a sender's access token. */
export const tokenOf = (channel: string, sender: string) => `channels/${channel}/${sender}/token`;
/** The name of the secret that signs all webhooks of the stage's app. */
export const appSecret = "channels/app-secret";
/** The name of the secret that Meta sends when it checks the URL of the webhooks. */
export const verifyToken = "channels/verify-token";
