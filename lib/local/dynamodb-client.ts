import { DynamoDBClient } from "@aws-sdk/client-dynamodb";
import type { Sign } from "./iam-proxy.ts";
import { localRegion } from "./intrinsics.ts";

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

/** Signs requests as the client would. */
export function signAs(client: DynamoDBClient, endpoint: string): Sign {
  const { protocol, hostname, host } = new URL(endpoint);
  return async (headers, body) => {
    const signer = await client.config.signer();
    const request = { method: "POST", protocol, hostname, path: "/", headers: { ...headers, host }, body };
    return (await signer.sign(request)).headers;
  };
}
