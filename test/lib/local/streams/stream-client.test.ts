import {
  DynamoDBStreamsClient,
  GetRecordsCommand,
  GetShardIteratorCommand,
  TrimmedDataAccessException,
} from "@aws-sdk/client-dynamodb-streams";
import { expect, test } from "vitest";
import { createStreamClient } from "../../../../lib/local/streams/stream-client.ts";
import { mockClient } from "../../../support/mocked-client.ts";

const engine = mockClient(DynamoDBStreamsClient);
const client = createStreamClient(engine as unknown as DynamoDBStreamsClient, "arn:engine:stream/1");

test("records have the form in which Lambda passes them on", async () => {
  const dynamodb = { Keys: { pk: { S: "LEAD#a" } }, SequenceNumber: "100" };
  const time = new Date("2026-01-01T00:00:00.900Z");
  const record = { eventID: "1", dynamodb: { ...dynamodb, ApproximateCreationDateTime: time } };
  engine.on(GetRecordsCommand).resolves({ Records: [record], NextShardIterator: "next" });
  expect(await client.records("iterator")).toEqual({
    records: [{ ...record, dynamodb: { ...dynamodb, ApproximateCreationDateTime: 1_767_225_600 } }],
    next: "next",
  });
});

test("a shard is read after a record, or from its oldest one if the engine has deleted that record", async () => {
  const trimmed = new TrimmedDataAccessException({ message: "trimmed", $metadata: {} });
  engine
    .on(GetShardIteratorCommand, { ShardIteratorType: "TRIM_HORIZON" })
    .resolves({ ShardIterator: "oldest" })
    .on(GetShardIteratorCommand, { ShardIteratorType: "AFTER_SEQUENCE_NUMBER" })
    .resolves({ ShardIterator: "next" })
    .on(GetShardIteratorCommand, { ShardIteratorType: "AFTER_SEQUENCE_NUMBER", SequenceNumber: "77" })
    .rejects(trimmed);
  expect(await client.iterator("shard-1", "77")).toBe("oldest");
  expect(await client.iterator("shard-1", "78")).toBe("next");
});
