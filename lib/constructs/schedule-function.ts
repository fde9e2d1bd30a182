import { Duration, Stack, Validations } from "aws-cdk-lib";
import { PolicyDocument, PolicyStatement, Role, ServicePrincipal } from "aws-cdk-lib/aws-iam";
import { CfnSchedule } from "aws-cdk-lib/aws-scheduler";
import type { Construct } from "constructs";
import type { ServiceFunction } from "./service-function.ts";

/** Runs a function on a schedule, with a role that may do nothing else. A failed run is not retried: the next one follows. */
export function scheduleFunction(
  scope: Construct,
  { lambda, alias }: ServiceFunction,
  scheduleExpression: string,
): CfnSchedule {
  const { functionArn } = alias;
  // The scheduler invokes asynchronously: Lambda would retry a failed run, and a success would hide the failure.
  alias.configureAsyncInvoke({ retryAttempts: 0, maxEventAge: Duration.minutes(5) });
  Validations.of(alias).acknowledge({
    id: "Serverless-LambdaAsyncFailureDestination",
    reason: "An alarm notices that runs fail, and the next run follows.",
  });
  const invoke = new PolicyStatement({
    actions: ["lambda:InvokeFunction"],
    resources: [lambda.functionArn, functionArn],
  });
  const role = new Role(scope, "Role", {
    assumedBy: new ServicePrincipal("scheduler.amazonaws.com", {
      conditions: { StringEquals: { "aws:SourceAccount": Stack.of(scope).account } },
    }),
    inlinePolicies: { Invoke: new PolicyDocument({ statements: [invoke] }) },
  });
  return new CfnSchedule(scope, "Schedule", {
    scheduleExpression,
    flexibleTimeWindow: { mode: "OFF" },
    target: { arn: functionArn, roleArn: role.roleArn, retryPolicy: { maximumRetryAttempts: 0 } },
  });
}
