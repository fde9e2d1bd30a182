import type { DynamoDBRecord } from "aws-lambda";
import { awsRegion } from "../engine/dynamodb-client.ts";
import type { Sign } from "../iam/iam-proxy.ts";

/** A part of a stream whose records are in order. */
export interface Shard {
  readonly id: string;
  /** The shard whose records come before, if it is still there. */
  readonly parent: string | undefined;
}

/** Records of a shard, and where to go on; nowhere when the shard has ended. */
export interface ReadRecords {
  readonly records: readonly DynamoDBRecord[];
  readonly next: string | undefined;
}

/** The streams of an engine. */
export interface StreamClient {
  shards(streamArn: string): Promise<Shard[]>;
  /** @param at a record's sequence number; without it, the oldest record */
  iterator(streamArn: string, shard: string, at?: string): Promise<string>;
  records(iterator: string, limit?: number): Promise<ReadRecords>;
}

/** What the engine answered instead of records, as `TrimmedDataAccessException`. */
export class StreamError extends Error {
  constructor(type: string, message: string) {
    super(message);
    this.name = type;
  }
}

/** How many records the streams return at most. */
export const mostRecords = 1000;

/** Milliseconds that the engine may take to answer. */
const patience = 10_000;

/**
 * Makes a client of the engine's streams. It speaks DynamoDB's protocol itself: the records are in the very form in
 * which Lambda passes them on, which the SDK would undo.
 *
 * @see https://docs.aws.amazon.com/amazondynamodb/latest/APIReference/API_Operations_Amazon_DynamoDB_Streams.html
 */
export function createStreamClient(endpoint: string, sign: Sign): StreamClient {
  const call = createCall(streamEndpoint(endpoint), sign);
  return {
    async shards(StreamArn) {
      const shards: Shard[] = [];
      let ExclusiveStartShardId: string | undefined;
      do {
        const response = await call<Description>("DescribeStream", { StreamArn, ExclusiveStartShardId });
        const { Shards = [], LastEvaluatedShardId } = response.StreamDescription;
        shards.push(...Shards.map(({ ShardId, ParentShardId }) => ({ id: ShardId, parent: ParentShardId })));
        ExclusiveStartShardId = LastEvaluatedShardId;
      } while (ExclusiveStartShardId !== undefined);
      return shards;
    },
    async iterator(StreamArn, ShardId, SequenceNumber) {
      const ShardIteratorType = SequenceNumber === undefined ? "TRIM_HORIZON" : "AT_SEQUENCE_NUMBER";
      const input = { StreamArn, ShardId, ShardIteratorType, SequenceNumber };
      return (await call<{ ShardIterator: string }>("GetShardIterator", input)).ShardIterator;
    },
    async records(ShardIterator, Limit = mostRecords) {
      const response = await call<Records>("GetRecords", { ShardIterator, Limit });
      return { records: response.Records, next: response.NextShardIterator ?? undefined };
    },
  };
}

interface Description {
  readonly StreamDescription: {
    readonly Shards?: readonly { readonly ShardId: string; readonly ParentShardId?: string }[];
    readonly LastEvaluatedShardId?: string;
  };
}

interface Records {
  readonly Records: readonly DynamoDBRecord[];
  readonly NextShardIterator?: string | null;
}

/** AWS has the streams at an address of their own, other engines at the table's. */
const streamEndpoint = (endpoint: string) =>
  awsRegion(endpoint) === undefined ? endpoint : endpoint.replace("://", "://streams.");

const createCall =
  (endpoint: string, sign: Sign) =>
  async <T>(operation: string, input: object): Promise<T> => {
    const body = Buffer.from(JSON.stringify(input));
    const headers = await sign(
      {
        "content-type": "application/x-amz-json-1.0",
        "x-amz-target": `DynamoDBStreams_20120810.${operation}`,
      },
      body,
    );
    const response = await fetch(endpoint, {
      method: "POST",
      headers: Object.entries(headers)
        .filter(([name]) => name !== "host")
        .map(([name, value]): [string, string] => [name, String(value)]),
      body,
      signal: AbortSignal.timeout(patience),
    });
    const answer = await response.json().catch(() => {
      // The parser's own words would quote rows in the log.
      throw new Error("the engine's answer is no whole JSON");
    });
    if (response.ok) return answer as T;
    const { __type = "", message = "" } = answer as { __type?: string; message?: string };
    throw new StreamError(__type.replace(/^.*#/, ""), message);
  };
