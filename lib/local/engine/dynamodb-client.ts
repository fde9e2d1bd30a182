import { DynamoDBClient } from "@aws-sdk/client-dynamodb";
import type { Sign } from "../iam/iam-proxy.ts";
import { localRegion } from "../template/intrinsics.ts";

/** What any engine but AWS takes for credentials; DynamoDB Local keeps the data of each access key apart. */
export const engineCredentials = { accessKeyId: "local", secretAccessKey: "local" };

/** The AWS region of an endpoint that is AWS's own. */
export function awsRegion(endpoint: string): string | undefined {
  const [, region] = /\.([a-z0-9-]+)\.amazonaws\.com(?:\.cn)?$/.exec(new URL(endpoint).hostname) ?? [];
  return region;
}

/** A client of the engine with the developer's own rights: at an endpoint of AWS, with the SDK's usual credentials. */
export function engineClient(endpoint: string): DynamoDBClient {
  const region = awsRegion(endpoint);
  return new DynamoDBClient({
    endpoint,
    region: region ?? localRegion,
    ...(region === undefined && { credentials: engineCredentials }),
  });
}

/**
 * Points `shared/dynamodb/table-client.ts` at a table of the engine, by the environment variables that it and the SDK read; so it must
 * come before that is imported.
 */
export function useEngine(endpoint: string, tableName: string): void {
  const region = awsRegion(endpoint);
  Object.assign(process.env, {
    TABLE_NAME: tableName,
    AWS_ENDPOINT_URL_DYNAMODB: endpoint,
    AWS_REGION: region ?? localRegion,
  });
  if (region !== undefined) return;
  // The SDK prefers a profile to keys, and would ask AWS for its credentials.
  delete process.env.AWS_PROFILE;
  process.env.AWS_ACCESS_KEY_ID = engineCredentials.accessKeyId;
  process.env.AWS_SECRET_ACCESS_KEY = engineCredentials.secretAccessKey;
}

/** Signs requests as the client would. */
export function signAs(client: DynamoDBClient, endpoint: string): Sign {
  const { protocol, hostname, host } = new URL(endpoint);
  return async (headers, body) => {
    const signer = await client.config.signer();
    const request = { method: "POST", protocol, hostname, path: "/", headers: { ...headers, host }, body };
    return (await signer.sign(request)).headers;
  };
}
