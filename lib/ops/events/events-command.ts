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
import type { DynamoDBRecord } from "aws-lambda";
import { Command } from "commander";
import { stageTableName } from "../../../shared/stages.ts";
import { toLambdaRecord } from "../../stream-record.ts";
import { UserError } from "../../user-error.ts";
import { command, parseNumber, type TableOptions } from "../command/command.ts";
import { checkStage, operatorConfig } from "../command/select-table.ts";

interface ResendOptions extends TableOptions {
  readonly hours: number;
}

/** `events resend`: publishes the events of the last hours again. */
export const eventsCommand = (): Command =>
  new Command("events").description("send events again").addCommand(
    command("resend", "publish the events of the last hours again", { account: "none" })
      .option(
        "--hours <n>",
        "how many of the 24 hours that the stream has",
        parseNumber(1, 24, "Hours are a whole number from 1 to 24."),
        24,
      )
      .action(resendEvents),
  );

/** The most records of one invocation, as the event source mapping has them. */
const mostRecords = 100;

type StageConfig = typeof operatorConfig & { readonly region?: string };

/**
 * Has `publish-events` publish what the stream has, under its own role, and then purges its failure queue, which names parts
 * of the stream. Receivers recognize what they have had.
 */
async function resendEvents({ stage, hours, json }: ResendOptions): Promise<void> {
  if (stage === undefined) throw new UserError("Only the stream of a stage is read again: use --stage.");
  const config: StageConfig = { ...operatorConfig, ...(await checkStage(stage)) };
  const name = stageTableName(stage);
  const { Stacks = [] } = await new CloudFormationClient(config).send(
    new DescribeStacksCommand({ StackName: name }),
  );
  const outputs = new Map(Stacks[0]?.Outputs?.map((each) => [each.OutputKey, each.OutputValue]));
  const FunctionName: string = JSON.parse(outputs.get("FunctionNames") ?? "{}")["publish-events"];
  const lambda = new LambdaClient({ ...config, requestHandler: { requestTimeout: 90_000 } });
  let records = 0;
  for await (const page of recordsSince(Date.now() - hours * 3_600_000, name, config))
    for (let from = 0; from < page.length; from += mostRecords) {
      const Payload = JSON.stringify({ Records: page.slice(from, from + mostRecords) });
      const response = await lambda.send(new InvokeCommand({ FunctionName, Qualifier: "live", Payload }));
      const result = JSON.parse(Buffer.from(response.Payload ?? []).toString() || "{}");
      if (response.FunctionError || result.batchItemFailures?.length > 0)
        throw new UserError(
          `publish-events could not publish all records: its log has the cause. The ${records} records before them were published.`,
        );
      records += Math.min(mostRecords, page.length - from);
    }
  await new SQSClient(config).send(new PurgeQueueCommand({ QueueUrl: outputs.get("EventFailuresUrl") }));
  console.log(json ? JSON.stringify({ records }) : `The events of ${records} changes were published again.`);
}

/** How many empty pages are read in sequence: a shard that has not ended has no last page. */
const mostEmpty = 10;

/**
 * The records of a table's stream since a time, page by page: those of a shard in their order, and shards behind their
 * parents.
 *
 * @param since in milliseconds since the epoch
 */
async function* recordsSince(
  since: number,
  TableName: string,
  config: StageConfig,
): AsyncGenerator<DynamoDBRecord[]> {
  const client = new DynamoDBStreamsClient(config);
  const end = Date.now();
  const { Streams = [] } = await client.send(new ListStreamsCommand({ TableName }));
  for (const { StreamArn } of Streams) {
    let ExclusiveStartShardId: string | undefined;
    do {
      const { StreamDescription: { Shards = [], LastEvaluatedShardId } = {} } = await client.send(
        new DescribeStreamCommand({ StreamArn, ExclusiveStartShardId }),
      );
      for (const { ShardId } of Shards) {
        const input = { StreamArn, ShardId, ShardIteratorType: "TRIM_HORIZON" } as const;
        let { ShardIterator } = await client.send(new GetShardIteratorCommand(input));
        for (let empty = 0; ShardIterator && empty < mostEmpty; empty++) {
          const page = await client.send(new GetRecordsCommand({ ShardIterator }));
          const times = page.Records?.map(({ dynamodb }) => Number(dynamodb?.ApproximateCreationDateTime));
          if (times?.length) empty = 0;
          yield (page.Records ?? [])
            .filter((_, index) => Number(times?.[index]) >= since)
            .map((record) => ({ ...toLambdaRecord(record), eventSourceARN: StreamArn ?? "" }));
          // What is written meanwhile is published anyway.
          ShardIterator = Number(times?.at(-1)) > end ? undefined : page.NextShardIterator;
        }
      }
      ExclusiveStartShardId = LastEvaluatedShardId;
    } while (ExclusiveStartShardId);
  }
}
