import { CloudFormationClient, DescribeStacksCommand } from "@aws-sdk/client-cloudformation";
import { CloudWatchClient } from "@aws-sdk/client-cloudwatch";
import { CloudWatchLogsClient } from "@aws-sdk/client-cloudwatch-logs";
import { EventBridgeClient } from "@aws-sdk/client-eventbridge";
import { LambdaClient } from "@aws-sdk/client-lambda";
import { SQSClient } from "@aws-sdk/client-sqs";
import type { FunctionName } from "../../lib/bundling/bundle.ts";
import { errorCode, errorMessage, UserError } from "../../lib/errors.ts";
import { operatorConfig } from "../../lib/ops/common/options.ts";
import { checkStage } from "../../lib/ops/common/stage-pin.ts";
import { stageTableName } from "../../shared/stages.ts";

type Described = Pick<AwsStage, "stage" | "stackName" | "outputs" | "isProtected">;

/** A deployed stage, as its stack describes it, and clients of the services that it uses. */
export class AwsStage {
  readonly stage: string;
  readonly stackName: string;
  /** The outputs of the stack, by their names. */
  readonly outputs: Readonly<Record<string, string>>;
  readonly isProtected: boolean;
  readonly cloudFormation: CloudFormationClient;
  readonly cloudWatch: CloudWatchClient;
  readonly logs: CloudWatchLogsClient;
  readonly lambda: LambdaClient;
  readonly sqs: SQSClient;
  readonly events: EventBridgeClient;

  private constructor({ stage, stackName, outputs, isProtected }: Described, config: typeof operatorConfig) {
    this.stage = stage;
    this.stackName = stackName;
    this.outputs = outputs;
    this.isProtected = isProtected;
    this.cloudFormation = new CloudFormationClient(config);
    this.cloudWatch = new CloudWatchClient(config);
    this.logs = new CloudWatchLogsClient(config);
    this.lambda = new LambdaClient(config);
    this.sqs = new SQSClient(config);
    this.events = new EventBridgeClient(config);
  }

  /** @throws UserError for credentials of another AWS account, or without a stack */
  static async open(stage: string): Promise<AwsStage> {
    const config = { ...operatorConfig, ...(await checkStage(stage, operatorConfig)) };
    const stackName = stageTableName(stage);
    const client = new CloudFormationClient(config);
    const { Stacks: [stack] = [] } = await client
      .send(new DescribeStacksCommand({ StackName: stackName }))
      .catch((error: unknown) => {
        if (/ does not exist$/.test(errorMessage(error)))
          throw new UserError(
            `There is no stack ${stackName} with these credentials in this region: deploy the stage, or check --stage and AWS_REGION.`,
          );
        if (errorCode(error) !== undefined)
          throw new UserError(
            `CloudFormation cannot be reached (${errorMessage(error)}): check the network and the region.`,
          );
        throw error;
      });
    const outputs = Object.fromEntries(
      (stack?.Outputs ?? []).map(({ OutputKey = "", OutputValue = "" }) => [OutputKey, OutputValue]),
    );
    if (!outputs.ApiUrl)
      throw new UserError(`The stack ${stackName} has no output ApiUrl: its state is ${stack?.StackStatus}.`);
    const isProtected = !!stack?.EnableTerminationProtection;
    return new AwsStage({ stage, stackName, outputs, isProtected }, config);
  }

  /** An output of the stack. @throws UserError without it */
  output(name: string): string {
    const value = this.outputs[name];
    if (value) return value;
    throw new UserError(`The stack ${this.stackName} has no output ${name}: deploy it again.`);
  }

  /** The names that Lambda has for the functions. */
  get functionNames(): Readonly<Record<FunctionName, string>> {
    return JSON.parse(this.output("FunctionNames"));
  }

  /** The log groups of the functions, in the same order. */
  get logGroups(): readonly string[] {
    return JSON.parse(this.output("FunctionLogGroups"));
  }
}
