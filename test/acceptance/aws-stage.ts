import { CloudFormationClient, DescribeStacksCommand } from "@aws-sdk/client-cloudformation";
import { CloudWatchLogsClient, paginateFilterLogEvents } from "@aws-sdk/client-cloudwatch-logs";
import { EventBridgeClient } from "@aws-sdk/client-eventbridge";
import { SQSClient } from "@aws-sdk/client-sqs";
import type { FunctionName } from "../../lib/bundling/bundle.ts";
import { checkStage, operatorConfig } from "../../lib/ops/command/select-table.ts";
import { errorMessage, UserError } from "../../lib/user-error.ts";
import { isRecord, parseJson } from "../../shared/json.ts";
import { stageResourceName } from "../../shared/stages.ts";

/** A deployed stage, as its stack describes it, and clients of the services that it uses. */
export type AwsStage = Awaited<ReturnType<typeof openAwsStage>>;

/** @throws UserError if the credentials are of another AWS account, or if there is no stack */
export async function openAwsStage(stage: string) {
  const config = { ...operatorConfig, ...(await checkStage(stage)) };
  const stackName = stageResourceName(stage);
  const cloudFormation = new CloudFormationClient(config);
  const describe = new DescribeStacksCommand({ StackName: stackName });
  const { Stacks: [stack] = [] } = await cloudFormation.send(describe).catch((error: unknown) => {
    throw new UserError(`CloudFormation does not describe ${stackName}: ${errorMessage(error)}.`);
  });
  const outputs = Object.fromEntries(
    (stack?.Outputs ?? []).map(({ OutputKey = "", OutputValue = "" }) => [OutputKey, OutputValue]),
  );
  /** Returns an output of the stack. @throws UserError if it is missing */
  const output = (name: string): string => {
    const value = outputs[name];
    if (value) return value;
    throw new UserError(`The stack ${stackName} has no output ${name}: its state is ${stack?.StackStatus}.`);
  };
  return {
    stage,
    stackName,
    output,
    isProtected: !!stack?.EnableTerminationProtection,
    logs: new CloudWatchLogsClient(config),
    sqs: new SQSClient(config),
    events: new EventBridgeClient(config),
  };
}

/** How late the lines of a log may be, in milliseconds. */
export const logLag = 30_000;

/** Reads and parses the matching lines of a function's log. */
export async function readFunctionLog(
  { output, logs: client }: AwsStage,
  name: FunctionName,
  startTime: number,
  filterPattern: string,
): Promise<Readonly<Record<string, unknown>>[]> {
  // The outputs have the functions, by their names, and their log groups in the same order.
  const [functions, groups] = ["FunctionNames", "FunctionLogGroups"].map((part) => JSON.parse(output(part)));
  const logGroupName = groups[Object.keys(functions).indexOf(name)];
  const lines = [];
  for await (const page of paginateFilterLogEvents({ client }, { logGroupName, startTime, filterPattern }))
    for (const { message = "" } of page.events ?? []) {
      const line = parseJson(message);
      if (isRecord(line)) lines.push(line);
    }
  return lines;
}
