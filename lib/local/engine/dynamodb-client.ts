import { DynamoDBClient } from "@aws-sdk/client-dynamodb";
import { DynamoDBStreams } from "@aws-sdk/client-dynamodb-streams";
import { selectTable } from "../../../shared/dynamodb/table-client.ts";
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
  new DynamoDBStreams({
    ...settings,
    endpoint,
    maxAttempts: 1,
    requestHandler: { requestTimeout: 10_000, throwOnRequestTimeout: true },
  });

/** Makes this process work on a table of the engine. */
export const selectEngineTable = (endpoint: string, tableName: string) =>
  selectTable(tableName, { ...settings, endpoint });
