import {
  DescribeStreamCommand,
  type DynamoDBStreamsClient,
  GetRecordsCommand,
  GetShardIteratorCommand,
  TrimmedDataAccessException,
} from "@aws-sdk/client-dynamodb-streams";
import type { DynamoDBRecord } from "aws-lambda";
import { toLambdaRecord } from "../../stream-record.ts";

/** A part of a stream whose records are in order. */
interface Shard {
  readonly id: string;
  readonly parent: string | undefined;
}

/** Reads the stream of a table in an engine. */
export interface StreamClient {
  /** Lists the shards, each one behind its parent. */
  shards(): Promise<Shard[]>;
  /** @param after the sequence number of a record; without it, the iterator starts at the oldest record */
  iterator(shard: string, after: string | undefined): Promise<string>;
  /** @returns records, and the iterator for the next ones; undefined when the shard has ended */
  records(
    iterator: string,
  ): Promise<{ readonly records: readonly DynamoDBRecord[]; readonly next: string | undefined }>;
}

/** The largest number of records that GetRecords returns. */
export const maxRecords = 1000;

/** Adapts the SDK's client, so that records have the form in which Lambda passes them to a function. */
export const createStreamClient = (client: DynamoDBStreamsClient, StreamArn: string): StreamClient => ({
  async shards() {
    const { StreamDescription } = await client.send(new DescribeStreamCommand({ StreamArn }));
    return (StreamDescription?.Shards ?? []).map(({ ShardId = "", ParentShardId }) => ({
      id: ShardId,
      parent: ParentShardId,
    }));
  },
  async iterator(ShardId, SequenceNumber) {
    const ShardIteratorType = SequenceNumber === undefined ? "TRIM_HORIZON" : "AFTER_SEQUENCE_NUMBER";
    const input = { StreamArn, ShardId, ShardIteratorType, SequenceNumber } as const;
    try {
      const { ShardIterator = "" } = await client.send(new GetShardIteratorCommand(input));
      return ShardIterator;
    } catch (error) {
      if (error instanceof TrimmedDataAccessException) return this.iterator(ShardId, undefined);
      throw error;
    }
  },
  async records(ShardIterator) {
    const command = new GetRecordsCommand({ ShardIterator, Limit: maxRecords });
    const { Records = [], NextShardIterator } = await client.send(command);
    return { records: Records.map(toLambdaRecord), next: NextShardIterator };
  },
});
