import {
  type _Record,
  DescribeStreamCommand,
  type DynamoDBStreamsClient,
  GetRecordsCommand,
  GetShardIteratorCommand,
} from "@aws-sdk/client-dynamodb-streams";
import type { DynamoDBRecord } from "aws-lambda";

/** A part of a stream whose records are in order. */
interface Shard {
  readonly id: string;
  readonly parent: string | undefined;
}

/** Reads the streams of an engine. */
export interface StreamClient {
  shards(streamArn: string): Promise<Shard[]>;
  /** @param at the sequence number of a record; without it, the iterator starts at the oldest record */
  iterator(streamArn: string, shard: string, at?: string): Promise<string>;
  /** @returns records, and the iterator for the next ones; undefined when the shard has ended */
  records(
    iterator: string,
    limit?: number,
  ): Promise<{ readonly records: readonly DynamoDBRecord[]; readonly next: string | undefined }>;
}

/** The largest number of records that GetRecords returns. */
export const maxRecords = 1000;

/** Adapts the SDK's client, so that records have the form in which Lambda passes them to a function. */
export const createStreamClient = (client: DynamoDBStreamsClient): StreamClient => ({
  async shards(StreamArn) {
    const shards: Shard[] = [];
    let ExclusiveStartShardId: string | undefined;
    do {
      const command = new DescribeStreamCommand({ StreamArn, ExclusiveStartShardId });
      const { StreamDescription } = await client.send(command).catch(rethrow);
      for (const { ShardId = "", ParentShardId } of StreamDescription?.Shards ?? [])
        shards.push({ id: ShardId, parent: ParentShardId });
      ExclusiveStartShardId = StreamDescription?.LastEvaluatedShardId;
    } while (ExclusiveStartShardId !== undefined);
    return shards;
  },
  async iterator(StreamArn, ShardId, SequenceNumber) {
    const ShardIteratorType = SequenceNumber === undefined ? "TRIM_HORIZON" : "AT_SEQUENCE_NUMBER";
    const input = { StreamArn, ShardId, ShardIteratorType, SequenceNumber } as const;
    const { ShardIterator = "" } = await client.send(new GetShardIteratorCommand(input)).catch(rethrow);
    return ShardIterator;
  },
  async records(ShardIterator, Limit = maxRecords) {
    const command = new GetRecordsCommand({ ShardIterator, Limit });
    const { Records = [], NextShardIterator } = await client.send(command).catch(rethrow);
    return { records: Records.map(toLambdaRecord), next: NextShardIterator };
  },
});

/** Hides the message of a JSON error: it quotes the response, and so the data. */
function rethrow(error: unknown): never {
  throw error instanceof SyntaxError ? new Error("the engine's response is not valid JSON") : error;
}

/** Lambda's records have the time in seconds and binary values in base64, where the SDK's have objects. */
function toLambdaRecord({ dynamodb, ...record }: _Record): DynamoDBRecord {
  const time = dynamodb?.ApproximateCreationDateTime;
  const ApproximateCreationDateTime = time && Math.floor(time.getTime() / 1000);
  const json = JSON.stringify(
    { ...record, dynamodb: { ...dynamodb, ApproximateCreationDateTime } },
    (_, value: unknown) => (value instanceof Uint8Array ? Buffer.from(value).toString("base64") : value),
  );
  return JSON.parse(json) as DynamoDBRecord;
}
