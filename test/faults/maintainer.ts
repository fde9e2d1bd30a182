import { PutItemCommand } from "@aws-sdk/client-dynamodb";
import type { DynamoDBRecord } from "aws-lambda";
import { ulid } from "ulid";
import { handler } from "../../functions/maintain-counts.ts";
import { engineClient, engineStreamsClient } from "../../lib/local/engine/dynamodb-client.ts";
import { findStreamArn } from "../../lib/local/engine/table-setup.ts";
import { startStream } from "../../lib/local/streams/stream.ts";
import { createStreamClient } from "../../lib/local/streams/stream-client.ts";
import { openPositions } from "../../lib/local/streams/stream-positions.ts";
import { readStack } from "../../lib/local/template/template.ts";
import { leadKey } from "../../shared/dynamodb/keys.ts";
import { lambdaContext } from "../support/events.ts";
import type { FaultyApi } from "./faulty-api.ts";

/** The function's timeout as the stack configures it, in milliseconds. */
const timeout = 60_000;

/** DynamoDB Local sometimes rejects the first read of a stream, which is retried. */
const isTrimmed = (line: string) =>
  process.env.DYNAMODB_ENDPOINT !== undefined && line.includes("read past the oldest stream record");

/** Starts the function that maintains counts, invoked with the table's stream as by Lambda. */
export async function startMaintainer({ engine, tableName, assembly }: FaultyApi) {
  const [source] = (await readStack(assembly)).eventSources;
  if (!source) throw new Error("The stack has no event source.");
  const client = engineClient(engine);
  const streamsClient = engineStreamsClient(engine);
  const violations: string[] = [];
  const markers = new Map<string, () => void>();
  let failures = 0;

  async function deliver(records: readonly DynamoDBRecord[]) {
    try {
      const response = await handler({ Records: [...records] }, lambdaContext(timeout));
      if (response.batchItemFailures.length > 0) failures += 1;
      else for (const { dynamodb } of records) markers.get(dynamodb?.Keys?.sk?.S ?? "")?.();
      return response;
    } catch (error) {
      violations.push(`maintain-counts threw ${error}`);
      throw error;
    }
  }

  const stream = startStream(source, {
    client: createStreamClient(streamsClient),
    streamArn: await findStreamArn(client, tableName),
    positions: openPositions(undefined),
    deliver,
    log: (line) => {
      if (!isTrimmed(line)) violations.push(line);
    },
  });
  return {
    /** What must never happen, in sentences: an invocation that throws, a batch that is discarded. */
    violations,
    /** How many batches were reported as partly failed, and retried. */
    failures: () => failures,
    /**
     * Waits until everything written before has been counted. It writes a marker lead: the stream has one lane, so everything
     * written before is delivered before it.
     */
    async drained() {
      const { pk, sk } = leadKey("nobody", `lead_${ulid()}`);
      const { promise, resolve } = Promise.withResolvers<void>();
      markers.set(sk, resolve);
      const Item = { pk: { S: pk }, sk: { S: sk }, id: { S: sk }, status: { S: "new" } };
      await client.send(new PutItemCommand({ TableName: tableName, Item }));
      await promise;
    },
    async stop() {
      stream.stop();
      client.destroy();
      streamsClient.destroy();
    },
  };
}
