import { join } from "node:path";
import { type Duration, Fn, RemovalPolicy, Stack, Validations } from "aws-cdk-lib";
import { PolicyDocument, PolicyStatement, Role, ServicePrincipal } from "aws-cdk-lib/aws-iam";
import * as lambda from "aws-cdk-lib/aws-lambda";
import { LogGroup } from "aws-cdk-lib/aws-logs";
import { Construct } from "constructs";
import type { FunctionName } from "../bundling/bundle.ts";
import type { Config } from "../config/config.ts";
import { tableStatements } from "./function-permissions.ts";
import type { ServiceTable } from "./table.ts";

/** What a construct needs to create its functions. */
export interface ServiceProps {
  readonly config: Config;
  readonly table: ServiceTable;
  /** The directory with one folder of bundled code per function. */
  readonly bundles: string;
}

export interface ServiceFunctionProps extends ServiceProps {
  readonly timeout: Duration;
  /** Megabytes. */
  readonly memorySize?: number;
  /** Variables besides the table's name. */
  readonly environment?: Readonly<Record<string, string>>;
  /** What the role allows besides its grants on the table. */
  readonly statements?: readonly PolicyStatement[];
  /** How many execution environments Lambda reserves for the function. It never gets more. */
  readonly reservedConcurrentExecutions?: number | undefined;
}

/** @see https://docs.aws.amazon.com/service-authorization/latest/reference/list_awsx-ray.html */
const sendTraces = new PolicyStatement({
  actions: ["xray:PutTraceSegments", "xray:PutTelemetryRecords"],
  resources: ["*"],
});

const whyNoQueue =
  "No event is ever queued: callers get the failures, readers of a queue or the stream have a failure queue, and a failed scheduled run is followed by the next one.";

/** One function of the service with its log group and its role. All defaults of the functions are here. */
export class ServiceFunction extends Construct {
  readonly name: FunctionName;
  readonly lambda: lambda.Function;
  /**
   * The alias `live` of the current version. All callers use it, and a gradual deployment shifts it. Roles also allow the
   * function itself, which an older stage without aliases calls until its deployment has added them.
   */
  readonly alias: lambda.Alias;

  constructor(scope: Construct, name: FunctionName, props: ServiceFunctionProps) {
    // Logical ids come from the path: under the stack itself, they do not depend on which construct owns the function.
    super(Stack.of(scope), name);
    this.name = name;
    const { codeRelease, removalPolicy, logErrorMessages, rateLimitRequests, tracing } = props.config;
    const data = tableStatements(name, props.table, rateLimitRequests > 0);
    const logGroup = new LogGroup(this, "Logs", {
      retention: props.config.logRetentionDays,
      removalPolicy,
    });
    const writeLogs = new PolicyStatement({
      actions: ["logs:CreateLogStream", "logs:PutLogEvents"],
      resources: [logGroup.logGroupArn],
    });
    const statements = [...data, ...(props.statements ?? []), writeLogs, ...(tracing ? [sendTraces] : [])];
    const role = new Role(this, "Role", {
      assumedBy: new ServicePrincipal("lambda.amazonaws.com"),
      inlinePolicies: { Access: new PolicyDocument({ statements }) },
    });
    this.lambda = new lambda.Function(this, "Function", {
      runtime: lambda.Runtime.NODEJS_24_X,
      architecture: lambda.Architecture.ARM_64,
      code: lambda.Code.fromAsset(join(props.bundles, name), { exclude: ["*.map"] }),
      handler: "index.handler",
      // CPU grows with memory, to one core at 1,769 MB. 1,024 MB load the SDK in 0.1 s, half of that in 0.2 s.
      memorySize: props.memorySize ?? 1024,
      timeout: props.timeout,
      ...(props.reservedConcurrentExecutions && {
        reservedConcurrentExecutions: props.reservedConcurrentExecutions,
      }),
      environment: {
        // A function that does not use the table does not need its name.
        ...(data.length > 0 && { TABLE_NAME: props.table.tableName }),
        RELEASE: codeRelease,
        ...(logErrorMessages && { LOG_ERROR_MESSAGES: "true" }),
        ...props.environment,
      },
      currentVersionOptions: {
        // A failed deployment deletes its new version, which would stop the next deployment of the same code.
        removalPolicy: RemovalPolicy.RETAIN_ON_UPDATE_OR_DELETE,
      },
      role,
      logGroup,
      loggingFormat: lambda.LoggingFormat.JSON,
      applicationLogLevelV2: lambda.ApplicationLogLevel.INFO,
    });
    const resource = this.lambda.node.findChild("Resource") as lambda.CfnFunction;
    // The CDK's property `tracing` would add a policy of its own to each role.
    if (tracing) resource.tracingConfig = { mode: "Active" };
    keepVersionWhenPinned(resource);
    // The cast lets apps with exactOptionalPropertyTypes compile this file.
    const version = this.lambda.currentVersion as lambda.IVersion;
    this.alias = new lambda.Alias(this, "Alias", { aliasName: "live", version });
    Validations.of(resource).acknowledge(
      { id: "Serverless-LambdaDLQ", reason: whyNoQueue },
      { id: "Serverless-LambdaTracing", reason: "The logs have the time of each request." },
    );
    const reason = "X-Ray supports no resource but * for these actions.";
    if (tracing)
      Validations.of(role).acknowledge(
        { id: "AwsSolutions-IAM5[Resource::*]", reason },
        { id: "Serverless-LambdaStarPermissions", reason },
      );
  }
}

/**
 * Names the code's bucket in the same way whether or not the stage sets an account and a region. The version's id is a hash
 * that includes this name, and Lambda publishes no second version of the same code and settings.
 */
function keepVersionWhenPinned(resource: lambda.CfnFunction): void {
  const stack = Stack.of(resource);
  const { s3Bucket }: { s3Bucket?: string | { "Fn::Sub"?: string } } = stack.resolve(resource.code);
  const name = typeof s3Bucket === "string" ? s3Bucket : s3Bucket?.["Fn::Sub"];
  if (name === undefined) return;
  const { account, region } = stack;
  const placeholders = name.replace(account, `\${AWS::AccountId}`).replace(region, `\${AWS::Region}`);
  resource.addPropertyOverride("Code.S3Bucket", Fn.sub(placeholders));
}
