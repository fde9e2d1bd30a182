import { DynamoDBClient } from "@aws-sdk/client-dynamodb";
import { DynamoDBStreams } from "@aws-sdk/client-dynamodb-streams";
import { selectTable } from "../../../shared/dynamodb/table-client.ts";
import { localConfig } from "../../ops/command/local-run-file.ts";

const { region, credentials } = localConfig;

/** The headers with which an engine accepts a request: it reads the access key and checks neither date nor signature. */
export const engineHeaders = {
  authorization: `AWS4-HMAC-SHA256 Credential=${credentials.accessKeyId}/20000101/${region}/dynamodb/aws4_request, SignedHeaders=host, Signature=none`,
  "x-amz-date": "20000101T000000Z",
};

/** Creates a client of the engine's tables. */
export const engineClient = (endpoint: string) => new DynamoDBClient({ ...localConfig, endpoint });

/** Creates a client of the engine's streams; its caller retries. */
export const engineStreamsClient = (endpoint: string) =>
  new DynamoDBStreams({
    ...localConfig,
    endpoint,
    maxAttempts: 1,
    requestHandler: { requestTimeout: 10_000, throwOnRequestTimeout: true },
  });

/** Makes this process work on a table of the engine. */
export const selectEngineTable = (endpoint: string, tableName: string) =>
  selectTable(tableName, { ...localConfig, endpoint });
