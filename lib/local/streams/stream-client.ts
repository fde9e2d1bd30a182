import {
  DescribeStreamCommand,
  type DynamoDBStreamsClient,
  GetRecordsCommand,
  GetShardIteratorCommand,
  TrimmedDataAccessException,
} from "@aws-sdk/client-dynamodb-streams";
import { toLambdaRecord } from "../../stream-record.ts";

/** The largest number of records that GetRecords returns. */
export const maxRecords = 1000;

export type StreamClient = ReturnType<typeof createStreamClient>;

/** Reads the stream of a table in an engine; records have the form in which Lambda passes them to a function. */
export function createStreamClient(client: DynamoDBStreamsClient, StreamArn: string) {
  return {
    /** Lists the shards, each one behind its parent. */
    async shards() {
      const { StreamDescription } = await client.send(new DescribeStreamCommand({ StreamArn }));
      return StreamDescription?.Shards ?? [];
    },
    /** @param after the sequence number of a record; without it, the iterator starts at the oldest record */
    async iterator(ShardId: string, after: string | undefined): Promise<string> {
      const ShardIteratorType = after === undefined ? "TRIM_HORIZON" : "AFTER_SEQUENCE_NUMBER";
      const input = { StreamArn, ShardId, ShardIteratorType, SequenceNumber: after } as const;
      try {
        const { ShardIterator = "" } = await client.send(new GetShardIteratorCommand(input));
        return ShardIterator;
      } catch (error) {
        if (error instanceof TrimmedDataAccessException) return this.iterator(ShardId, undefined);
        throw error;
      }
    },
    /** @returns records, and the iterator for the next ones; undefined when the shard has ended */
    async records(ShardIterator: string) {
      const command = new GetRecordsCommand({ ShardIterator, Limit: maxRecords });
      const { Records = [], NextShardIterator } = await client.send(command);
      return { records: Records.map(toLambdaRecord), next: NextShardIterator };
    },
  };
}
