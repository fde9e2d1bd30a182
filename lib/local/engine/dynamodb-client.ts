import { DynamoDBClient } from "@aws-sdk/client-dynamodb";
import { DynamoDBStreamsClient } from "@aws-sdk/client-dynamodb-streams";
import { localRegion } from "../template/intrinsics.ts";

/** The credentials of the whole local run: DynamoDB Local keeps the tables of each access key apart. */
const credentials = { accessKeyId: "local", secretAccessKey: "local" };

/** The headers with which an engine accepts a request: it reads the access key and checks neither date nor signature. */
export const engineHeaders = {
  authorization: `AWS4-HMAC-SHA256 Credential=${credentials.accessKeyId}/20000101/${localRegion}/dynamodb/aws4_request, SignedHeaders=host, Signature=none`,
  "x-amz-date": "20000101T000000Z",
};

const settings = { region: localRegion, credentials };

/** Creates a client of the engine's tables. */
export const engineClient = (endpoint: string) => new DynamoDBClient({ ...settings, endpoint });

/** Creates a client of the engine's streams; its caller retries. */
export const engineStreamsClient = (endpoint: string) =>
  new DynamoDBStreamsClient({
    ...settings,
    endpoint,
    maxAttempts: 1,
    requestHandler: { requestTimeout: 10_000, throwOnRequestTimeout: true },
  });

/**
 * Points `shared/dynamodb/table-client.ts` at a table of the engine, by the environment variables that it and the SDK
 * read. Call it before that module is imported.
 */
export function useEngine(endpoint: string, tableName: string): void {
  // The SDK would prefer the credentials of a profile.
  delete process.env.AWS_PROFILE;
  Object.assign(process.env, {
    TABLE_NAME: tableName,
    AWS_ENDPOINT_URL_DYNAMODB: endpoint,
    AWS_REGION: localRegion,
    AWS_ACCESS_KEY_ID: credentials.accessKeyId,
    AWS_SECRET_ACCESS_KEY: credentials.secretAccessKey,
  });
}
