import { join } from "node:path";
import { type Duration, RemovalPolicy, Stack, Validations } from "aws-cdk-lib";
import { PolicyDocument, PolicyStatement, Role, ServicePrincipal } from "aws-cdk-lib/aws-iam";
import {
  type Alias,
  ApplicationLogLevel,
  Architecture,
  Code,
  type IFunction,
  Function as LambdaFunction,
  LoggingFormat,
  Runtime,
  Tracing,
} from "aws-cdk-lib/aws-lambda";
import { LogGroup } from "aws-cdk-lib/aws-logs";
import { Construct } from "constructs";
import { dataFormat } from "../../shared/dynamodb/stored-release.ts";
import type { FunctionName } from "../bundling/bundle.ts";
import type { Config } from "../config/config.ts";
import { describeVersion } from "../release.ts";
import { grantStatement, grants } from "./grants.ts";
import { addLiveAlias } from "./live-alias.ts";
import type { ServiceTable } from "./table.ts";

/** What a construct needs to create its functions. */
export interface ServiceProps {
  readonly config: Config;
  readonly table: ServiceTable;
  /** The directory with one folder of bundled code per function. */
  readonly bundles: string;
}

interface ServiceFunctionProps extends ServiceProps {
  readonly timeout: Duration;
  /** Megabytes. */
  readonly memorySize?: number;
  /** Variables beside the table's name. */
  readonly environment?: Readonly<Record<string, string>>;
  /** What the role allows beside the function's grants on the table, by the name of the policy. */
  readonly policies?: Readonly<Record<string, readonly PolicyStatement[]>>;
  /** Why the function needs no dead-letter queue. */
  readonly whyNoQueue?: string;
}

const calledSynchronously =
  "API Gateway calls the function synchronously and reports its failures to the caller; no event is ever queued.";

/** One function of the service with its log group and its role. All defaults of the functions are here. */
export class ServiceFunction extends Construct {
  readonly name: FunctionName;
  readonly lambda: LambdaFunction;
  /** On a stage that keeps its data, and so keeps the versions of its functions. */
  readonly alias: Alias | undefined;

  constructor(scope: Construct, name: FunctionName, props: ServiceFunctionProps) {
    // Logical ids come from the path: under the stack itself, they do not depend on which construct owns the function.
    super(Stack.of(scope), name);
    this.name = name;
    const { release, removalPolicy, deployment } = props.config;
    const reservedConcurrentExecutions = props.config.reservedConcurrency[name];
    const logGroup = new LogGroup(this, "Logs", {
      retention: props.config.logRetentionDays,
      removalPolicy,
    });
    this.lambda = new LambdaFunction(this, "Function", {
      runtime: Runtime.NODEJS_24_X,
      architecture: Architecture.ARM_64,
      code: Code.fromAsset(join(props.bundles, name)),
      handler: "index.handler",
      // CPU grows with memory, one core at 1,769 MB: this loads the SDK in 0.1 s, half of it in 0.2 s.
      memorySize: props.memorySize ?? 1024,
      timeout: props.timeout,
      ...(reservedConcurrentExecutions !== undefined && { reservedConcurrentExecutions }),
      environment: {
        // A function without grants on the table does not need its name.
        ...(grants[name].length > 0 && { TABLE_NAME: props.table.tableName }),
        RELEASE: release,
        ...props.environment,
      },
      currentVersionOptions: {
        description: describeVersion(release, dataFormat),
        // The version of a failed deployment is deleted: it would stop the next deployment of the same code.
        removalPolicy: RemovalPolicy.RETAIN_ON_UPDATE_OR_DELETE,
      },
      role: this.createRole(props, logGroup),
      logGroup,
      loggingFormat: LoggingFormat.JSON,
      applicationLogLevelV2: ApplicationLogLevel.INFO,
      tracing: props.config.tracing ? Tracing.ACTIVE : Tracing.DISABLED,
    });
    this.alias =
      removalPolicy === RemovalPolicy.RETAIN || deployment === "canary"
        ? addLiveAlias(this.lambda, name)
        : undefined;
    this.acknowledgeFindings(props.config.tracing, props.whyNoQueue ?? calledSynchronously);
  }

  /** What calls the function should call. */
  get target(): IFunction {
    return this.alias ?? this.lambda;
  }

  /** What its callers may call: the function, too, while a deployment adds the alias. */
  get targetArns(): string[] {
    const { functionArn } = this.lambda;
    return this.alias ? [functionArn, `${functionArn}:${this.alias.aliasName}`] : [functionArn];
  }

  private createRole({ table, policies = {} }: ServiceFunctionProps, logGroup: LogGroup): Role {
    const data = grants[this.name].map((grant) => grantStatement(table, grant));
    const writeLogs = new PolicyStatement({
      actions: ["logs:CreateLogStream", "logs:PutLogEvents"],
      resources: [logGroup.logGroupArn],
    });
    return new Role(this, "Role", {
      assumedBy: new ServicePrincipal("lambda.amazonaws.com"),
      inlinePolicies: Object.fromEntries(
        Object.entries({ ...(data.length > 0 && { Data: data }), ...policies, Logs: [writeLogs] }).map(
          ([policy, statements]) => [policy, new PolicyDocument({ statements: [...statements] })],
        ),
      ),
    });
  }

  private acknowledgeFindings(tracing: boolean, whyNoQueue: string) {
    const lambda = Validations.of(this.lambda.node.findChild("Resource"));
    lambda.acknowledge({ id: "Serverless-LambdaDLQ", reason: whyNoQueue });
    if (!tracing) {
      lambda.acknowledge({
        id: "Serverless-LambdaTracing",
        reason: "The stage does not pay for traces: the logs have the time of each request.",
      });
      return;
    }
    // Active tracing adds the default policy, which holds nothing else.
    const role = this.node.findChild("Role").node.findChild("DefaultPolicy");
    Validations.of(role.node.findChild("Resource")).acknowledge({
      id: "AwsSolutions-IAM5[Resource::*]",
      reason: "X-Ray's two actions that write traces allow no resource but *.",
    });
  }
}
