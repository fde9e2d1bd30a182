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
  const value = read(`${SECRETS_PATH}/${name}`);
  known.set(name, { value, until: Date.now() + lifetime });
  // The next call repeats a read that has failed.
  value.catch(() => known.delete(name));
  return value;
}

async function read(Name: string): Promise<string | undefined> {
  try {
    const { Parameter } = await parameters.send(new GetParameterCommand({ Name, WithDecryption: true }));
    return Parameter?.Value || undefined;
  } catch (error) {
    if (error instanceof ParameterNotFound) return undefined;
    throw error;
  }
}

/** The name of the secret that contains a sender's access token. */
export const tokenOf = (channel: string, sender: string) => `channels/${channel}/${sender}/token`;
/** The name of the secret that signs all webhooks of the stage's app. */
export const appSecret = "channels/app-secret";
/** The name of the secret that Meta sends when it checks the URL of the webhooks. */
export const verifyToken = "channels/verify-token";
