import { CloudFormationClient, DescribeStacksCommand } from "@aws-sdk/client-cloudformation";
import { InvokeCommand, LambdaClient } from "@aws-sdk/client-lambda";
import { DeleteMessageCommand, ReceiveMessageCommand, SQSClient } from "@aws-sdk/client-sqs";
import type { DynamoDBRecord } from "aws-lambda";
import { Command } from "commander";
import { stageTableName } from "../../../shared/stages.ts";
import { UserError } from "../../user-error.ts";
import { command, parseNumber, type TableOptions } from "../command/command.ts";
import { operatorConfig } from "../command/select-table.ts";
import { checkStage } from "../command/stage-pin.ts";
import { type FailedBatch, failedRecords, recordsSince } from "./failed-records.ts";

interface ResendOptions extends TableOptions {
  readonly hours?: number;
}

/** `events resend`: publishes again what the failure queue of `publish-events` names. */
export const eventsCommand = (): Command =>
  new Command("events").description("send events again").addCommand(
    command("resend", "publish the events that the failure queue of a stage names", { account: "none" })
      .option(
        "--hours <n>",
        "publish those of all changes of the last hours, too",
        parseNumber(1, 24, "Hours are a whole number from 1 to 24, which the stream has."),
      )
      .action(resendEvents),
  );

/** How long a message of the queue is hidden from other runs, in seconds. */
const visibility = 300;

/** The most records of one invocation, as the event source mapping has them. */
const batchSize = 100;

/**
 * Has `publish-events` publish the records that its failure queue names, under its own role, and deletes each message whose
 * records are published. It may end at any moment: what is left in the queue is published by the next run.
 */
async function resendEvents({ stage, hours = 0, json }: ResendOptions): Promise<void> {
  if (stage === undefined) throw new UserError("Only a stage has a failure queue: use --stage.");
  const config = { ...operatorConfig, ...(await checkStage(stage, operatorConfig)) };
  const queue = new SQSClient(config);
  const { QueueUrl, publish } = await findPublisher(stage, config);
  let [batches, records, gone] = [0, 0, 0];
  for (;;) {
    const { Messages = [] } = await queue.send(
      new ReceiveMessageCommand({ QueueUrl, MaxNumberOfMessages: 10, VisibilityTimeout: visibility }),
    );
    if (Messages.length === 0) break;
    for (const { Body = "", ReceiptHandle } of Messages) {
      const batch = JSON.parse(Body).DDBStreamBatchInfo as FailedBatch;
      const found = await failedRecords(batch, config);
      if (!found) {
        gone++;
        continue;
      }
      await publish(found);
      await queue.send(new DeleteMessageCommand({ QueueUrl, ReceiptHandle }));
      batches++;
      records += found.length;
    }
  }
  if (hours > 0)
    for await (const found of recordsSince(Date.now() - hours * 3_600_000, stageTableName(stage), config)) {
      await publish(found);
      records += found.length;
    }
  const sentence = `${records} records were published again, ${batches} batches of the queue among them.`;
  console.log(json ? JSON.stringify({ batches, records, gone }) : sentence);
  if (gone > 0)
    throw new UserError(
      `${gone} batches are no longer in the stream, which keeps 24 hours. Their connectors have to read the rows (docs/syncing.md). Then purge the queue: aws sqs purge-queue --queue-url ${QueueUrl}`,
    );
}

/** The failure queue of a stage, and what publishes records as its event source mapping does. */
async function findPublisher(stage: string, config: typeof operatorConfig & { readonly region?: string }) {
  const cloudFormation = new CloudFormationClient(config);
  const StackName = stageTableName(stage);
  const { Stacks = [] } = await cloudFormation.send(new DescribeStacksCommand({ StackName }));
  const output = (name: string) =>
    Stacks[0]?.Outputs?.find(({ OutputKey }) => OutputKey === name)?.OutputValue ?? "";
  const FunctionName = JSON.parse(output("FunctionNames"))["publish-events"];
  const lambda = new LambdaClient({ ...config, requestHandler: { requestTimeout: 90_000 } });
  const invoke = async (Records: readonly DynamoDBRecord[]) => {
    const { FunctionError, Payload } = await lambda.send(
      new InvokeCommand({ FunctionName, Qualifier: "live", Payload: JSON.stringify({ Records }) }),
    );
    const { batchItemFailures = [] } = FunctionError ? {} : JSON.parse(Buffer.from(Payload ?? []).toString());
    if (FunctionError || batchItemFailures.length > 0)
      throw new UserError(
        "publish-events could not publish the records: its log has the cause. Remove it, and run the command again in five minutes.",
      );
  };
  const publish = async (records: readonly DynamoDBRecord[]) => {
    for (let from = 0; from < records.length; from += batchSize)
      await invoke(records.slice(from, from + batchSize));
  };
  return { QueueUrl: output("EventFailuresUrl"), publish };
}
