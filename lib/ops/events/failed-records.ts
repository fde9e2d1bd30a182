import {
  DescribeStreamCommand,
  DynamoDBStreamsClient,
  type DynamoDBStreamsClientConfig,
  GetRecordsCommand,
  GetShardIteratorCommand,
  type GetShardIteratorCommandInput,
  ListStreamsCommand,
  type Shard,
  TrimmedDataAccessException,
} from "@aws-sdk/client-dynamodb-streams";
import type { DynamoDBRecord } from "aws-lambda";
import { toLambdaRecord } from "../../stream-record.ts";

/** What a message of a failure queue names: a part of a stream. `publish-events` does not know the shard of an event. */
export interface FailedBatch {
  readonly shardId?: string;
  readonly startSequenceNumber: string;
  readonly endSequenceNumber: string;
  readonly streamArn: string;
}

/** How many empty pages are read in sequence: an open shard goes on for ever. */
const mostEmpty = 10;

/** The records of a batch in the form in which Lambda passes them to a function; undefined if the stream has lost some. */
export async function failedRecords(
  batch: FailedBatch,
  config: DynamoDBStreamsClientConfig,
): Promise<readonly DynamoDBRecord[] | undefined> {
  const client = new DynamoDBStreamsClient(config);
  for (const shardId of batch.shardId ? [batch.shardId] : await possibleShards(client, batch)) {
    const records = await readRecords(client, batch, shardId).catch((error: unknown) => {
      if (error instanceof TrimmedDataAccessException) return [];
      throw error;
    });
    const [first, last] = [records[0], records.at(-1)].map((record) => record?.dynamodb?.SequenceNumber);
    if (first === batch.startSequenceNumber && last === batch.endSequenceNumber) return records;
  }
  return undefined;
}

/**
 * The records that were written since a time, as far as the stream has them: those of a shard in their order, and shards
 * behind their parents.
 */
export async function* recordsSince(
  since: number,
  TableName: string,
  config: DynamoDBStreamsClientConfig,
): AsyncGenerator<DynamoDBRecord[]> {
  const client = new DynamoDBStreamsClient(config);
  const { Streams = [] } = await client.send(new ListStreamsCommand({ TableName }));
  const now = Date.now() / 1000;
  for (const { StreamArn = "" } of Streams)
    for (const { ShardId } of await listShards(client, StreamArn)) {
      const input = { StreamArn, ShardId, ShardIteratorType: "TRIM_HORIZON" } as const;
      for await (const records of readPages(client, input)) {
        const times = records.map(({ dynamodb }) => dynamodb?.ApproximateCreationDateTime ?? now);
        yield records.filter((_, index) => (times[index] ?? now) * 1000 >= since);
        // What callers write meanwhile is published anyway.
        if ((times.at(-1) ?? 0) >= now) break;
      }
    }
}

async function listShards(client: DynamoDBStreamsClient, StreamArn: string): Promise<Shard[]> {
  const shards: Shard[] = [];
  let ExclusiveStartShardId: string | undefined;
  do {
    const command = new DescribeStreamCommand({ StreamArn, ExclusiveStartShardId });
    const { StreamDescription = {} } = await client.send(command);
    shards.push(...(StreamDescription.Shards ?? []));
    ExclusiveStartShardId = StreamDescription.LastEvaluatedShardId;
  } while (ExclusiveStartShardId);
  return shards;
}

/** The shards that may have the first record of a batch. */
async function possibleShards(
  client: DynamoDBStreamsClient,
  { streamArn, startSequenceNumber }: FailedBatch,
): Promise<string[]> {
  const number = BigInt(startSequenceNumber);
  const shards = await listShards(client, streamArn);
  return shards.flatMap(({ ShardId = "", SequenceNumberRange: range = {} }) => {
    const { StartingSequenceNumber: start = "0", EndingSequenceNumber: end = startSequenceNumber } = range;
    return BigInt(start) <= number && number <= BigInt(end) ? ShardId : [];
  });
}

/** The records of a shard from the first to the last one of a batch. */
async function readRecords(
  client: DynamoDBStreamsClient,
  { streamArn: StreamArn, startSequenceNumber: SequenceNumber, endSequenceNumber }: FailedBatch,
  ShardId: string,
): Promise<DynamoDBRecord[]> {
  const records: DynamoDBRecord[] = [];
  const input = { StreamArn, ShardId, SequenceNumber, ShardIteratorType: "AT_SEQUENCE_NUMBER" } as const;
  for await (const page of readPages(client, input))
    for (const record of page) {
      const number = record.dynamodb?.SequenceNumber ?? "0";
      if (BigInt(number) > BigInt(endSequenceNumber)) return records;
      records.push(record);
      if (number === endSequenceNumber) return records;
    }
  return records;
}

async function* readPages(
  client: DynamoDBStreamsClient,
  input: GetShardIteratorCommandInput,
): AsyncGenerator<DynamoDBRecord[]> {
  let { ShardIterator } = await client.send(new GetShardIteratorCommand(input));
  for (let empty = 0; ShardIterator && empty < mostEmpty; empty++) {
    const { Records = [], NextShardIterator } = await client.send(new GetRecordsCommand({ ShardIterator }));
    if (Records.length > 0) empty = 0;
    yield Records.map((record) => ({ ...toLambdaRecord(record), eventSourceARN: input.StreamArn }));
    ShardIterator = NextShardIterator;
  }
}
