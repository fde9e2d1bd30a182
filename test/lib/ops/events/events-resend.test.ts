import { CloudFormationClient, DescribeStacksCommand } from "@aws-sdk/client-cloudformation";
import {
  DescribeStreamCommand,
  DynamoDBStreamsClient,
  GetRecordsCommand,
  GetShardIteratorCommand,
  ListStreamsCommand,
} from "@aws-sdk/client-dynamodb-streams";
import { InvokeCommand, LambdaClient } from "@aws-sdk/client-lambda";
import { PurgeQueueCommand, SQSClient } from "@aws-sdk/client-sqs";
import { beforeEach, expect, test, vi } from "vitest";
import { mockClient } from "../../../support/mocked-client.ts";
import { program } from "../support/program.ts";

const [stacks, streams] = [mockClient(CloudFormationClient), mockClient(DynamoDBStreamsClient)];
const [lambda, queue] = [mockClient(LambdaClient), mockClient(SQSClient)];

const name = "leads-and-conversations-dev";
const outputs = { EventFailuresUrl: "https://queue", FunctionNames: '{"publish-events":"publisher"}' };
const now = Date.parse("2026-11-21T12:00:00Z");

/** How many hours ago the records of each shard were written: the first shard has ended, the second one has not. */
const shards: Readonly<Record<string, readonly number[]>> = {
  ended: [23, 20, 3],
  open: [2, 1, ...Array(198).fill(0.5), -0.01, -0.02],
};

beforeEach(() => {
  for (const mock of [stacks, streams, lambda, queue]) mock.reset();
  vi.setSystemTime(now);
  const Outputs = Object.entries(outputs).map(([OutputKey, OutputValue]) => ({ OutputKey, OutputValue }));
  const stack = {
    StackName: name,
    CreationTime: new Date(0),
    StackStatus: "UPDATE_COMPLETE",
    Outputs,
  } as const;
  stacks.on(DescribeStacksCommand, { StackName: name }).resolves({ Stacks: [stack] });
  streams.on(ListStreamsCommand, { TableName: name }).resolves({ Streams: [{ StreamArn: "stream" }] });
  // A page of shards each.
  streams
    .on(DescribeStreamCommand)
    .callsFake(({ ExclusiveStartShardId }) =>
      ExclusiveStartShardId
        ? { StreamDescription: { Shards: [{ ShardId: "open" }] } }
        : { StreamDescription: { Shards: [{ ShardId: "ended" }], LastEvaluatedShardId: "ended" } },
    );
  streams.on(GetShardIteratorCommand).callsFake(({ ShardId }) => ({ ShardIterator: `${ShardId} 0` }));
  // Pages of 150 records, and an empty one before each.
  streams.on(GetRecordsCommand).callsFake(({ ShardIterator }) => {
    const [shard = "", from = "0", isFull] = ShardIterator.split(" ");
    const next = Number(from) + 150;
    if (!isFull) return { Records: [], NextShardIterator: `${shard} ${from} full` };
    const Records = shards[shard]?.slice(Number(from), next).map((hours, index) => ({
      eventName: "INSERT",
      dynamodb: {
        SequenceNumber: `${Number(from) + index}`,
        ApproximateCreationDateTime: new Date(now - hours * 3_600_000),
      },
    }));
    return shard === "ended" ? { Records } : { Records, NextShardIterator: `${shard} ${next}` };
  });
  lambda.on(InvokeCommand).resolves({ Payload: Buffer.from('{"batchItemFailures":[]}') as never });
});

const resend = (...args: string[]) => program(["events", "resend", "--stage", "dev", ...args]);

/** The hours since the records were written that were published, by calls. */
const published = () =>
  lambda.commandCalls(InvokeCommand).map(({ args: [{ input }] }) => {
    expect(input).toMatchObject({ FunctionName: "publisher", Qualifier: "live" });
    return JSON.parse(String(input.Payload)).Records.map(
      ({ dynamodb: { ApproximateCreationDateTime: seconds } }: never) => now / 1000 - seconds,
    );
  });

test("all that the stream has is published, shard by shard, and then the failure queue is purged", async () => {
  expect(await resend("--json")).toEqual({ code: 0, stdout: '{"records":205}\n', stderr: "" });
  expect(published().map(({ length }) => length)).toEqual([3, 100, 50, 52]);
  const hours = published().map((call) => call.map((seconds: number) => seconds / 3600));
  expect(hours.flat()).toEqual(Object.values(shards).flat());
  expect(queue.commandCalls(PurgeQueueCommand)[0]?.args[0].input).toEqual({ QueueUrl: "https://queue" });
});

test("--hours leaves out what is older", async () => {
  expect((await resend("--hours", "2")).stdout).toBe("The events of 202 changes were published again.\n");
  expect(published()[0]).toHaveLength(100);
});

test.each([
  ["fails", { FunctionError: "Unhandled" }],
  ["leaves a record", { Payload: Buffer.from('{"batchItemFailures":[{"itemIdentifier":"1"}]}') as never }],
])("the queue is not purged if publish-events %s", async (_, response) => {
  lambda.on(InvokeCommand).resolvesOnce({}).resolves(response);
  const { code, stderr } = await resend();
  expect([code, stderr]).toEqual([1, expect.stringContaining("The 3 records before them were published.")]);
  expect(queue.calls()).toEqual([]);
});

test("only the stream of a stage is read again", async () => {
  const { code, stderr } = await program(["events", "resend", "--table", "unit"]);
  expect([code, stderr]).toEqual([1, "Only the stream of a stage is read again: use --stage.\n"]);
});
