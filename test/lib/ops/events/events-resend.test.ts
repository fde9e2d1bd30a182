import { CloudFormationClient, DescribeStacksCommand } from "@aws-sdk/client-cloudformation";
import {
  DescribeStreamCommand,
  DynamoDBStreamsClient,
  GetRecordsCommand,
  GetShardIteratorCommand,
  ListStreamsCommand,
  TrimmedDataAccessException,
} from "@aws-sdk/client-dynamodb-streams";
import { InvokeCommand, LambdaClient } from "@aws-sdk/client-lambda";
import { DeleteMessageCommand, ReceiveMessageCommand, SQSClient } from "@aws-sdk/client-sqs";
import { beforeEach, expect, test, vi } from "vitest";
import { mockClient } from "../../../support/mocked-client.ts";
import { program } from "../support/program.ts";

const stacks = mockClient(CloudFormationClient);
const streams = mockClient(DynamoDBStreamsClient);
const lambda = mockClient(LambdaClient);
const queue = mockClient(SQSClient);

const streamArn = "arn:aws:dynamodb:eu-central-1:123456789012:table/leads-and-conversations-dev/stream/1";
const outputs = { EventFailuresUrl: "https://queue", FunctionNames: '{"publish-events":"publisher"}' };
const time = new Date("2026-11-21T02:00:00Z");

/** The numbers of the records in each shard: the first one has ended, the second one has not. */
const shards: Readonly<Record<string, readonly number[]>> = {
  ended: [100, 101, 102, 103],
  open: [900, 1000],
};

/** A message of the failure queue, as Lambda sends it, or as `publish-events` does, which knows no shard. */
const message = (start: number, end: number, shardId?: string) => ({
  ReceiptHandle: `${start}`,
  Body: JSON.stringify({
    DDBStreamBatchInfo: { shardId, startSequenceNumber: `${start}`, endSequenceNumber: `${end}`, streamArn },
  }),
});

beforeEach(() => {
  vi.setSystemTime(time.getTime() + 1000);
  for (const mock of [stacks, streams, lambda, queue]) mock.reset();
  const Outputs = Object.entries(outputs).map(([OutputKey, OutputValue]) => ({ OutputKey, OutputValue }));
  stacks.on(DescribeStacksCommand, { StackName: "leads-and-conversations-dev" }).resolves({
    Stacks: [{ StackName: "s", CreationTime: time, StackStatus: "UPDATE_COMPLETE", Outputs }],
  });
  streams.on(DescribeStreamCommand).resolves({
    StreamDescription: {
      Shards: [
        {
          ShardId: "ended",
          SequenceNumberRange: { StartingSequenceNumber: "100", EndingSequenceNumber: "103" },
        },
        { ShardId: "open", SequenceNumberRange: { StartingSequenceNumber: "900" } },
      ],
    },
  });
  streams.on(ListStreamsCommand, { TableName: "leads-and-conversations-dev" }).resolves({
    Streams: [{ StreamArn: streamArn }],
  });
  streams.on(GetShardIteratorCommand).callsFake(({ ShardId, SequenceNumber }) => {
    const from = Number(SequenceNumber ?? shards[ShardId]?.[0]);
    if (from < (shards[ShardId]?.[0] ?? 0))
      throw new TrimmedDataAccessException({ message: "trimmed", $metadata: {} });
    return { ShardIterator: `${ShardId} ${from}` };
  });
  // One record a page, and an empty page behind each.
  streams.on(GetRecordsCommand).callsFake(({ ShardIterator }) => {
    const [shard = "", from] = ShardIterator.split(" ");
    const number = shards[shard]?.find((each) => each >= Number(from));
    if (number === undefined)
      return shard === "ended" ? {} : { Records: [], NextShardIterator: ShardIterator };
    if (!ShardIterator.endsWith("!")) return { Records: [], NextShardIterator: `${shard} ${from} !` };
    const dynamodb = { SequenceNumber: `${number}`, ApproximateCreationDateTime: time };
    return {
      Records: [{ eventName: "INSERT", dynamodb }],
      NextShardIterator: `${shard} ${number + 1}`,
    };
  });
  lambda.on(InvokeCommand).resolves({ Payload: Buffer.from('{"batchItemFailures":[]}') as never });
});

const resend = (...args: string[]) => program(["events", "resend", "--stage", "dev", ...args]);

/** What was published, by calls: the sequence numbers of their records. */
const published = () =>
  lambda.commandCalls(InvokeCommand).map(({ args: [{ input }] }) => {
    const { Records } = JSON.parse(String(input.Payload));
    expect(input).toMatchObject({ FunctionName: "publisher", Qualifier: "live" });
    for (const { dynamodb, eventSourceARN } of Records)
      expect([dynamodb.ApproximateCreationDateTime, eventSourceARN]).toEqual([
        time.getTime() / 1000,
        streamArn,
      ]);
    return Records.map(({ dynamodb }: { dynamodb: { SequenceNumber: string } }) => dynamodb.SequenceNumber);
  });

const deleted = () =>
  queue.commandCalls(DeleteMessageCommand).map(({ args: [{ input }] }) => input.ReceiptHandle);

const queued = (...messages: readonly ReturnType<typeof message>[]) =>
  queue
    .on(ReceiveMessageCommand)
    .resolvesOnce({ Messages: [...messages] })
    .resolves({});

test("what the failure queue names is published, in a shard that is named or not, and deleted from the queue", async () => {
  queued(message(101, 102, "ended"), message(1000, 1000));
  expect(await resend("--json")).toEqual({
    code: 0,
    stdout: '{"batches":2,"records":3,"gone":0}\n',
    stderr: "",
  });
  expect(published()).toEqual([["101", "102"], ["1000"]]);
  expect(deleted()).toEqual(["101", "1000"]);
});

test.each([
  ["fails", { FunctionError: "Unhandled" }],
  ["leaves a record", { Payload: Buffer.from('{"batchItemFailures":[{"itemIdentifier":"102"}]}') as never }],
])("records stay in the queue if publish-events %s", async (_, response) => {
  queued(message(101, 103, "ended"), message(1000, 1000));
  lambda.on(InvokeCommand).resolves(response);
  const { code, stderr } = await resend();
  expect([code, stderr]).toEqual([1, expect.stringContaining("its log has the cause")]);
  expect([published().length, deleted()]).toEqual([1, []]);
});

test.each([
  ["has dropped a batch", message(50, 60, "ended")],
  ["has dropped an event without a shard", message(50, 50)],
  ["does not have the end of a batch", message(1000, 1001, "open")],
])("a stream that %s: the rest is published, and the operator told what is lost", async (_, lost) => {
  queued(lost, message(103, 103, "ended"));
  const { code, stdout, stderr } = await resend();
  expect([code, stdout]).toEqual([1, "1 records were published again, 1 batches of the queue among them.\n"]);
  expect(stderr).toContain("1 batches are no longer in the stream");
  expect(published()).toEqual([["103"]]);
  expect(deleted()).toEqual(["103"]);
});

test("all changes of some hours are published, shard by shard", async () => {
  queued();
  const { stdout } = await resend("--hours", "24", "--json");
  expect(JSON.parse(stdout)).toEqual({ batches: 0, records: 6, gone: 0 });
  expect(published().flat()).toEqual(Object.values(shards).flat().map(String));
  vi.setSystemTime(time.getTime() + 3_600_001);
  expect(JSON.parse((await resend("--hours", "1", "--json")).stdout)).toMatchObject({ records: 0 });
});

test("only a stage has a failure queue", async () => {
  const { code, stderr } = await program(["events", "resend", "--table", "unit"]);
  expect([code, stderr]).toEqual([1, "Only a stage has a failure queue: use --stage.\n"]);
});
