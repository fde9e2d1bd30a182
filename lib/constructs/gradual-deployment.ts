import { Fn, Stack, Validations } from "aws-cdk-lib";
import { CfnAuthorizer, CfnIntegration } from "aws-cdk-lib/aws-apigatewayv2";
import type { IAlarm, Metric } from "aws-cdk-lib/aws-cloudwatch";
import { LambdaApplication, LambdaDeploymentConfig, LambdaDeploymentGroup } from "aws-cdk-lib/aws-codedeploy";
import { Role, ServicePrincipal } from "aws-cdk-lib/aws-iam";
import {
  Alias,
  type CfnFunction,
  CfnPermission,
  type IVersion,
  type Function as LambdaFunction,
} from "aws-cdk-lib/aws-lambda";
import { Construct } from "constructs";
import type { Api } from "./api.ts";
import type { ServiceFunction } from "./service-function.ts";

/**
 * Shifts the requests of each function of the API to its new version: 10 % for half an hour, then all. The gateway calls
 * the alias `live` of each function in place of the function.
 *
 * What the API has without it stays, the permission to call the function itself too. So requests are served while a
 * deployment adds this construct to a stack or removes it.
 */
export class GradualDeployment extends Construct {
  private readonly aliases: readonly Alias[];
  private readonly groups: readonly LambdaDeploymentGroup[];

  constructor(scope: Construct, id: string, api: Api) {
    super(scope, id);
    const functions = [api.authorizer, ...api.handlers];
    this.aliases = functions.map((fn) => this.addAlias(fn, api));
    this.groups = this.addGroups(this.aliases);
  }

  /** Returns all requests to the previous versions if the alarm is raised while they shift. */
  rollBackOn(alarm: IAlarm): void {
    for (const group of this.groups) group.addAlarm(alarm);
  }

  /** The errors of the new version of each function. They have data only while requests shift to it. */
  metricErrors(): Metric[] {
    return this.aliases.map((alias) =>
      alias.metricErrors({
        dimensionsMap: {
          FunctionName: alias.lambda.functionName,
          // Not the name of the alias's resource, which waits for the alarms.
          Resource: `${alias.lambda.functionName}:${alias.aliasName}`,
          ExecutedVersion: alias.version.version,
        },
      }),
    );
  }

  /** Creates the alias of a function and has the gateway call it. */
  private addAlias({ name, lambda }: ServiceFunction, api: Api): Alias {
    keepVersionWhenPinned(lambda);
    // The cast lets apps with exactOptionalPropertyTypes compile this file.
    const alias = new Alias(this, name, { aliasName: "live", version: lambda.currentVersion as IVersion });
    Validations.of(lambda).acknowledge({
      id: "Annotation::@aws-cdk/aws-lambda:addPermissionsToVersionOrAlias",
      reason: "The gateway may call the alias as well as the function.",
    });
    const permission = new CfnPermission(alias, "Permission", {
      action: "lambda:InvokeFunction",
      functionName: alias.functionArn,
      principal: "apigateway.amazonaws.com",
      // The id of the authorizer in place of * would make the permission wait for the authorizer, which must wait for it.
      sourceArn: Stack.of(this).formatArn({
        service: "execute-api",
        resource: api.stage.api.apiId,
        resourceName: "*",
      }),
    });
    for (const caller of api.node.findAll()) {
      if (caller instanceof CfnIntegration && caller.integrationUri === lambda.functionArn) {
        caller.integrationUri = alias.functionArn;
        caller.addResourceDependency(permission);
      }
      if (caller instanceof CfnAuthorizer && caller.authorizerUri?.includes(lambda.functionArn)) {
        caller.authorizerUri = caller.authorizerUri.replace(lambda.functionArn, alias.functionArn);
        caller.addResourceDependency(permission);
      }
    }
    return alias;
  }

  private addGroups(aliases: readonly Alias[]): LambdaDeploymentGroup[] {
    const application = new LambdaApplication(this, "Application", {
      applicationName: Stack.of(this).stackName,
    });
    const role = new Role(this, "Role", { assumedBy: new ServicePrincipal("codedeploy.amazonaws.com") });
    Validations.of(role.node.findChild("Resource")).acknowledge({
      id: "AwsSolutions-IAM4[Policy::arn:<AWS::Partition>:iam::aws:policy/service-role/AWSCodeDeployRoleForLambdaLimited]",
      reason: "AWS keeps the policy up to date with what CodeDeploy needs to shift the requests of an alias.",
    });
    return aliases.map(
      (alias) =>
        new LambdaDeploymentGroup(alias, "Deployments", {
          application,
          alias,
          role,
          // As long as the slowest of the alarms needs, and as the canary needs to call each new version.
          deploymentConfig: LambdaDeploymentConfig.CANARY_10PERCENT_30MINUTES,
          autoRollback: { stoppedDeployment: true },
        }),
    );
  }
}

/**
 * Names the bucket with the code in the same way whether the stage has an account and a region or not. The id of the
 * version is a hash of this name, too, and Lambda publishes no second version of the same code and settings.
 */
function keepVersionWhenPinned(lambda: LambdaFunction): void {
  const stack = Stack.of(lambda);
  const resource = lambda.node.findChild("Resource") as CfnFunction;
  const { s3Bucket }: { s3Bucket?: string | { "Fn::Sub"?: string } } = stack.resolve(resource.code);
  const name = typeof s3Bucket === "string" ? s3Bucket : s3Bucket?.["Fn::Sub"];
  if (name === undefined) return;
  const { account, region } = stack;
  const placeholders = name.replace(account, `\${AWS::AccountId}`).replace(region, `\${AWS::Region}`);
  resource.addPropertyOverride("Code.S3Bucket", Fn.sub(placeholders));
}
