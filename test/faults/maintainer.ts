import { PutItemCommand } from "@aws-sdk/client-dynamodb";
import type { DynamoDBRecord } from "aws-lambda";
import { ulid } from "ulid";
import { handler } from "../../functions/maintain-counts.ts";
import { engineClient, signAs } from "../../lib/local/engine/dynamodb-client.ts";
import { findStreamArn } from "../../lib/local/engine/table-setup.ts";
import { startStream } from "../../lib/local/streams/stream.ts";
import { createStreamClient } from "../../lib/local/streams/stream-client.ts";
import { StreamPositions } from "../../lib/local/streams/stream-positions.ts";
import { readStack } from "../../lib/local/template/template.ts";
import { leadKey } from "../../shared/dynamodb/keys.ts";
import { lambdaContext } from "../support/events.ts";

/** What a maintainer works on. */
export interface MaintainerOptions {
  readonly engine: string;
  readonly tableName: string;
  /** The synthesized cloud assembly, which says how the stream feeds the maintainer. */
  readonly assembly: string;
}

/** The function that keeps the counts, fed by the table's stream as Lambda feeds it. */
export interface Maintainer {
  /** Waits until all that was written before has been counted. */
  drained(): Promise<void>;
  /** What must never be, in sentences: an invocation that threw, a batch that was given up. */
  readonly broken: string[];
  /** How many batches were reported as failed in part, and came again. */
  failures(): number;
  stop(): Promise<void>;
}

/** The invocation's time, as the stack configures it, in milliseconds. */
const timeout = 60_000;

export async function startMaintainer(options: MaintainerOptions): Promise<Maintainer> {
  const { engine, tableName, assembly } = options;
  const [source] = (await readStack(assembly)).eventSources;
  if (!source) throw new Error("The stack has no event source.");
  const client = engineClient(engine);
  const broken: string[] = [];
  const markers = new Map<string, () => void>();
  let failures = 0;

  async function deliver(records: readonly DynamoDBRecord[]) {
    try {
      const response = await handler({ Records: [...records] }, lambdaContext(timeout));
      if (response.batchItemFailures.length > 0) failures += 1;
      else for (const { dynamodb } of records) markers.get(dynamodb?.Keys?.sk?.S ?? "")?.();
      return response;
    } catch (error) {
      broken.push(`maintain-counts threw ${error}`);
      throw error;
    }
  }

  const stream = startStream(source, {
    client: createStreamClient(engine, signAs(client, engine)),
    streamArn: await findStreamArn(client, tableName),
    positions: await StreamPositions.open(undefined),
    deliver,
    log: (line) => broken.push(line),
  });
  return {
    broken,
    failures: () => failures,
    /** The stream has one lane, so what was written before a lead of nobody's comes before it. */
    async drained() {
      const { pk, sk } = leadKey("nobody", `lead_${ulid()}`);
      const { promise, resolve } = Promise.withResolvers<void>();
      markers.set(sk, resolve);
      const Item = { pk: { S: pk }, sk: { S: sk }, id: { S: sk }, status: { S: "new" } };
      await client.send(new PutItemCommand({ TableName: tableName, Item }));
      await promise;
    },
    async stop() {
      await stream.stop();
      client.destroy();
    },
  };
}
