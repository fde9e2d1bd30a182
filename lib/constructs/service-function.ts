import { join } from "node:path";
import { type Duration, Validations } from "aws-cdk-lib";
import type { Table } from "aws-cdk-lib/aws-dynamodb";
import { PolicyDocument, PolicyStatement, Role, ServicePrincipal } from "aws-cdk-lib/aws-iam";
import {
  ApplicationLogLevel,
  Architecture,
  Code,
  Function as LambdaFunction,
  LoggingFormat,
  Runtime,
  Tracing,
} from "aws-cdk-lib/aws-lambda";
import { LogGroup } from "aws-cdk-lib/aws-logs";
import { Construct } from "constructs";
import type { FunctionName } from "../bundling/bundle.ts";
import type { Config } from "../config/config.ts";
import { grantStatement, grants } from "./grants.ts";

/** What differs between the functions. */
export interface FunctionSettings {
  readonly timeout: Duration;
  /** Megabytes. */
  readonly memorySize?: number;
  /** Variables beside the table's name. */
  readonly environment?: Readonly<Record<string, string>>;
  /** What the role allows beside the function's grants on the table, by the name of the policy. */
  readonly policies?: Readonly<Record<string, readonly PolicyStatement[]>>;
  /** Why the function needs no queue for events that fail. */
  readonly whyNoQueue?: string;
}

interface ServiceFunctionProps extends FunctionSettings {
  readonly config: Config;
  readonly table: Table;
  /** The directory that holds a folder of code for each function. */
  readonly bundles: string;
}

const calledSynchronously =
  "API Gateway calls the function synchronously and answers for its failures; no event is ever queued.";

/** One function of the service with its log group and its role: all defaults of the functions are here. */
export class ServiceFunction extends Construct {
  readonly lambda: LambdaFunction;

  constructor(scope: Construct, name: FunctionName, props: ServiceFunctionProps) {
    super(scope, name);
    const logGroup = new LogGroup(this, "Logs", {
      retention: props.config.logRetentionDays,
      removalPolicy: props.config.removalPolicy,
    });
    this.lambda = new LambdaFunction(this, "Function", {
      runtime: Runtime.NODEJS_24_X,
      architecture: Architecture.ARM_64,
      code: Code.fromAsset(join(props.bundles, name)),
      handler: "index.handler",
      // CPU comes with memory, one core at 1,769 MB: this loads the SDK in 0.1 s, half of it in 0.2 s.
      memorySize: props.memorySize ?? 1024,
      timeout: props.timeout,
      environment: {
        // A function that may do nothing with the table has no use for its name.
        ...(grants[name].length > 0 && { TABLE_NAME: props.table.tableName }),
        ...props.environment,
      },
      role: this.createRole(name, props, logGroup),
      logGroup,
      loggingFormat: LoggingFormat.JSON,
      applicationLogLevelV2: ApplicationLogLevel.INFO,
      tracing: Tracing.ACTIVE,
    });
    this.acknowledgeFindings(props.whyNoQueue ?? calledSynchronously);
  }

  private createRole(
    name: FunctionName,
    { table, policies = {} }: ServiceFunctionProps,
    logGroup: LogGroup,
  ): Role {
    const writeLogs = new PolicyStatement({
      actions: ["logs:CreateLogStream", "logs:PutLogEvents"],
      resources: [logGroup.logGroupArn],
    });
    return new Role(this, "Role", {
      assumedBy: new ServicePrincipal("lambda.amazonaws.com"),
      inlinePolicies: Object.fromEntries(
        Object.entries({
          ...(grants[name].length > 0 && { Data: grants[name].map((grant) => grantStatement(table, grant)) }),
          ...policies,
          Logs: [writeLogs],
        }).map(([policy, statements]) => [policy, new PolicyDocument({ statements: [...statements] })]),
      ),
    });
  }

  private acknowledgeFindings(whyNoQueue: string) {
    // The default policy, which active tracing adds to the role, holds nothing but that permission.
    const tracingPolicy = this.node
      .findChild("Role")
      .node.findChild("DefaultPolicy")
      .node.findChild("Resource");
    Validations.of(tracingPolicy).acknowledge({
      id: "AwsSolutions-IAM5[Resource::*]",
      reason: "X-Ray's two actions that write traces allow no resource but *.",
    });
    Validations.of(this.lambda.node.findChild("Resource")).acknowledge({
      id: "Serverless-LambdaDLQ",
      reason: whyNoQueue,
    });
  }
}
