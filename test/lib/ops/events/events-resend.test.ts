import { CloudFormationClient, DescribeStacksCommand } from "@aws-sdk/client-cloudformation";
import * as sdk from "@aws-sdk/client-dynamodb-streams";
import { InvokeCommand, LambdaClient } from "@aws-sdk/client-lambda";
import { beforeEach, expect, test, vi } from "vitest";
import { newId } from "../../../../shared/ids.ts";
import { mockClient } from "../../../support/tables/mocked-client.ts";
import { storedLead } from "../../../support/tables/stored.ts";
import { streamRecord } from "../../../support/tables/stream-record.ts";
import { program } from "../support/program.ts";

const stacks = mockClient(CloudFormationClient);
const streams = mockClient(sdk.DynamoDBStreamsClient);
const lambda = mockClient(LambdaClient);

const name = "leads-and-conversations-dev";
const now = Date.parse("2026-11-21T12:00:00Z");

/** How many seconds ago the records of each shard were written: the first shard has ended, the second one has not. */
const shards: Readonly<Record<string, readonly number[]>> = {
  ended: [80_000, 70_000, 10_000],
  open: [7000, 3600, ...Array(198).fill(1800), -36, -72],
};

/** The record of a new lead, as the SDK returns it. */
function record(age: number) {
  const createdAt = new Date(now - age * 1000);
  const { dynamodb } = streamRecord(undefined, storedLead(newId("lead", createdAt.getTime())));
  return { eventName: "INSERT", dynamodb: { ...dynamodb, ApproximateCreationDateTime: createdAt } };
}

/** The record of a node of counts, which has no event. */
const count = {
  eventName: "INSERT",
  dynamodb: { Keys: { pk: { S: "COUNT#acme#LEAD" }, sk: { S: "root" } } },
};

beforeEach(() => {
  for (const mock of [stacks, streams, lambda]) mock.reset();
  vi.setSystemTime(now);
  const Outputs = [{ OutputKey: "FunctionNames", OutputValue: '{"publish-events":"publisher"}' }];
  stacks.on(DescribeStacksCommand, { StackName: name }).resolves({ Stacks: [{ Outputs } as never] });
  streams.on(sdk.ListStreamsCommand, { TableName: name }).resolves({ Streams: [{ StreamArn: "stream" }] });
  // Each page has one shard.
  const ended = { ShardId: "ended", SequenceNumberRange: { EndingSequenceNumber: "9" } };
  streams
    .on(sdk.DescribeStreamCommand)
    .callsFake(({ ExclusiveStartShardId }) =>
      ExclusiveStartShardId
        ? { StreamDescription: { Shards: [{ ShardId: "open" }] } }
        : { StreamDescription: { Shards: [ended], LastEvaluatedShardId: "ended" } },
    );
  streams.on(sdk.GetShardIteratorCommand).callsFake(({ ShardId }) => ({ ShardIterator: `${ShardId} 0 0` }));
  // Many empty pages come before each page with records, and each of these also has a record of counts.
  streams.on(sdk.GetRecordsCommand).callsFake(({ ShardIterator, Limit }) => {
    const [shard = "", from = "0", empty = "0"] = ShardIterator.split(" ");
    if (Number(empty) < (shard === "ended" ? 300 : 90))
      return { Records: [], NextShardIterator: `${shard} ${from} ${Number(empty) + 1}` };
    const next = Number(from) + Limit - 1;
    const Records = [count, ...(shards[shard]?.slice(Number(from), next) ?? []).map(record)];
    return shard === "ended" ? { Records } : { Records, NextShardIterator: `${shard} ${next} 0` };
  });
  lambda.on(InvokeCommand).resolves({ Payload: Buffer.from('{"batchItemFailures":[]}') as never });
});

const resend = (...args: string[]) => program(["events", "resend", "--stage", "dev", ...args]);

/** The ages of the records that were published, in seconds, by calls. */
const published = (): number[][] =>
  lambda.commandCalls(InvokeCommand).map(({ args: [{ input }] }) => {
    expect(input).toMatchObject({ FunctionName: "publisher", Qualifier: "live" });
    return JSON.parse(String(input.Payload)).Records.map(
      ({ dynamodb: { ApproximateCreationDateTime: seconds } }: never) => now / 1000 - seconds,
    );
  });

test("all events of the stream are published, shard by shard", async () => {
  expect(await resend("--json")).toEqual({ code: 0, stdout: '{"events":205}\n', stderr: "" });
  expect(published().map(({ length }) => length)).toEqual([3, 99, 99, 4]);
  expect(published().flat()).toEqual(Object.values(shards).flat());
});

test.each([
  ["fails", { FunctionError: "Unhandled" }],
  ["leaves a record", { Payload: Buffer.from('{"batchItemFailures":[{"itemIdentifier":"1"}]}') as never }],
])("the command fails if publish-events %s", async (_, response) => {
  lambda.on(InvokeCommand).resolvesOnce({}).resolves(response);
  const { code, stderr } = await resend();
  expect([code, stderr]).toEqual([1, expect.stringContaining("The 3 events before them were published.")]);
});

test("a table that is not named by its stage is refused", async () => {
  const { code, stderr } = await program(["events", "resend", "--table", "unit"]);
  expect([code, stderr]).toEqual([1, "Only the events of a stage can be sent again: use --stage.\n"]);
});
