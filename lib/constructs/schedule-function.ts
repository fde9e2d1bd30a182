import { Stack } from "aws-cdk-lib";
import { PolicyDocument, PolicyStatement, Role, ServicePrincipal } from "aws-cdk-lib/aws-iam";
import { CfnSchedule } from "aws-cdk-lib/aws-scheduler";
import type { Construct } from "constructs";
import type { ServiceFunction } from "./service-function.ts";

interface ScheduleProps {
  readonly description: string;
  readonly scheduleExpression: string;
}

/** Runs a function again and again, with a role that may do nothing else. */
export function scheduleFunction(
  scope: Construct,
  { lambda, alias: { functionArn } }: ServiceFunction,
  props: ScheduleProps,
): CfnSchedule {
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
    ...props,
    flexibleTimeWindow: { mode: "OFF" },
    target: { arn: functionArn, roleArn: role.roleArn },
  });
}
