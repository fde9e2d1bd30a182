import { Stack, Validations } from "aws-cdk-lib";
import type { IAlarm, Metric } from "aws-cdk-lib/aws-cloudwatch";
import { LambdaApplication, LambdaDeploymentConfig, LambdaDeploymentGroup } from "aws-cdk-lib/aws-codedeploy";
import { Role, ServicePrincipal } from "aws-cdk-lib/aws-iam";
import type { Alias } from "aws-cdk-lib/aws-lambda";
import { Construct } from "constructs";
import type { ServiceFunction } from "./service-function.ts";

/** Shifts the calls of each function's alias to the function's new version: 10 % for half an hour, then all. */
export class GradualDeployment extends Construct {
  private readonly aliases: readonly Alias[];
  private readonly groups: readonly LambdaDeploymentGroup[];

  constructor(scope: Construct, id: string, functions: readonly ServiceFunction[]) {
    super(scope, id);
    this.aliases = functions.map(({ alias }) => alias);
    const application = new LambdaApplication(this, "Application", {
      applicationName: Stack.of(this).stackName,
    });
    const role = new Role(this, "Role", { assumedBy: new ServicePrincipal("codedeploy.amazonaws.com") });
    Validations.of(role.node.findChild("Resource")).acknowledge({
      id: "AwsSolutions-IAM4[Policy::arn:<AWS::Partition>:iam::aws:policy/service-role/AWSCodeDeployRoleForLambdaLimited]",
      reason: "AWS keeps the policy up to date with what CodeDeploy needs to shift the requests of an alias.",
    });
    this.groups = this.aliases.map(
      (alias) =>
        new LambdaDeploymentGroup(alias, "Deployments", {
          application,
          alias,
          role,
          // As long as the slowest alarm needs, and as the canary needs to call each new version.
          deploymentConfig: LambdaDeploymentConfig.CANARY_10PERCENT_30MINUTES,
          autoRollback: { stoppedDeployment: true },
        }),
    );
  }

  /** Rolls back to the previous versions if the alarm is raised during the shift. */
  rollBackOn(alarm: IAlarm): void {
    for (const group of this.groups) group.addAlarm(alarm);
  }

  /** The errors of the new version of each function. They have data only while requests shift to it. */
  metricErrors(): Metric[] {
    return this.aliases.map((alias) =>
      alias.metricErrors({
        dimensionsMap: {
          FunctionName: alias.lambda.functionName,
          // A reference to the alias's resource would be circular, because that resource waits for the alarms.
          Resource: `${alias.lambda.functionName}:${alias.aliasName}`,
          ExecutedVersion: alias.version.version,
        },
      }),
    );
  }
}
