import { CloudFormation } from "@aws-sdk/client-cloudformation";
import { DynamoDBStreams } from "@aws-sdk/client-dynamodb-streams";
import { Lambda } from "@aws-sdk/client-lambda";
import { Command } from "commander";
import { toEvents } from "../../../shared/domain/events.ts";
import { stageResourceName } from "../../../shared/stages.ts";
import { toLambdaRecord } from "../../stream-record.ts";
import { UserError } from "../../user-error.ts";
import { print } from "../command/action.ts";
import { command, type TableOptions } from "../command/command.ts";
import { checkStage, operatorConfig } from "../command/select-table.ts";

/** `events resend`: publishes all events of the stream again. */
export const eventsCommand = () =>
  new Command("events").description("send events again").addCommand(
    command("resend", "publish all events of the stream (the last 24 hours) again", {
      account: "none",
    }).action(resendEvents),
  );

/** How many empty pages in a row are read of an open shard, which has no last page. */
const mostEmpty = 100;

/**
 * Invokes `publish-events` with the records of the stream, so that it publishes them under its own role. Receivers recognize
 * events that they already have. The failure queue stays: it only names parts of the stream, and the operator purges it.
 */
async function resendEvents(options: TableOptions): Promise<void> {
  const { stage } = options;
  if (stage === undefined) throw new UserError("Only the events of a stage can be sent again: use --stage.");
  const config = { ...operatorConfig, ...(await checkStage(stage)) };
  const name = stageResourceName(stage);
  const { Stacks = [] } = await new CloudFormation(config).describeStacks({ StackName: name });
  const names = Stacks[0]?.Outputs?.find(({ OutputKey }) => OutputKey === "FunctionNames")?.OutputValue;
  const FunctionName: string = JSON.parse(names ?? "{}")["publish-events"];
  const lambda = new Lambda({ ...config, requestHandler: { requestTimeout: 90_000 } });
  let events = 0;
  for await (const page of readStream(name, new DynamoDBStreams(config))) {
    // Most records are of counts, which are large and have no event.
    const Records = page.filter((record) => toEvents([record]).length > 0);
    if (Records.length === 0) continue;
    const Payload = JSON.stringify({ Records });
    const response = await lambda.invoke({ FunctionName, Qualifier: "live", Payload });
    const result = JSON.parse(Buffer.from(response.Payload ?? []).toString() || "{}");
    if (response.FunctionError || result.batchItemFailures?.length > 0)
      throw new UserError(
        `publish-events could not publish all events: its log has the cause. The ${events} events before them were published.`,
      );
    events += Records.length;
  }
  print(options, { json: { events }, text: `${events} events were published again.` });
}

/** Reads the records of a table's stream, page by page: in order within a shard, and parent shards first. */
async function* readStream(TableName: string, client: DynamoDBStreams) {
  const end = Date.now();
  const { Streams = [] } = await client.listStreams({ TableName });
  for (const { StreamArn } of Streams) {
    let ExclusiveStartShardId: string | undefined;
    do {
      const { StreamDescription: { Shards = [], LastEvaluatedShardId } = {} } = await client.describeStream({
        StreamArn,
        ExclusiveStartShardId,
      });
      for (const { ShardId, SequenceNumberRange } of Shards) {
        const hasEnded = SequenceNumberRange?.EndingSequenceNumber !== undefined;
        const input = { StreamArn, ShardId, ShardIteratorType: "TRIM_HORIZON" } as const;
        let { ShardIterator } = await client.getShardIterator(input);
        for (let empty = 0; ShardIterator && (hasEnded || empty < mostEmpty); empty++) {
          // The batch size of the event source mapping.
          const { Records = [], NextShardIterator } = await client.getRecords({ ShardIterator, Limit: 100 });
          if (Records.length > 0) empty = 0;
          yield Records.map((record) => ({ ...toLambdaRecord(record), eventSourceARN: StreamArn ?? "" }));
          const last = Number(Records.at(-1)?.dynamodb?.ApproximateCreationDateTime);
          // Changes that are written during this run are published anyway.
          ShardIterator = last > end ? undefined : NextShardIterator;
        }
      }
      ExclusiveStartShardId = LastEvaluatedShardId;
    } while (ExclusiveStartShardId);
  }
}
