import { Aws, Duration, Stack } from "aws-cdk-lib";
import { PolicyStatement } from "aws-cdk-lib/aws-iam";
import type { CfnSchedule } from "aws-cdk-lib/aws-scheduler";
import { Construct } from "constructs";
import type { Api } from "./api.ts";
import { scheduleFunction } from "./schedule-function.ts";
import { ServiceFunction, type ServiceProps } from "./service-function.ts";

/** A function that uses the API from outside every few minutes, with an account and a key of its own. */
export class ScheduledCanary extends Construct {
  readonly runner: ServiceFunction;
  readonly schedule: CfnSchedule;

  constructor(scope: Construct, id: string, props: ServiceProps, api: Api) {
    super(scope, id);
    const { domainName } = props.config;
    const { account, partition, region, stackName } = Stack.of(this);
    // The text of the stage's own URL depends on whether its file sets a region, and a new text makes a new version.
    const host = domainName ?? `${api.stage.api.apiId}.execute-api.${Aws.REGION}.${Aws.URL_SUFFIX}`;
    const parameter = `/${stackName}/canary-key`;
    const readKey = new PolicyStatement({
      actions: ["ssm:GetParameter"],
      // No KMS action: everyone who may read the parameter can use the key that AWS manages for parameters.
      resources: [`arn:${partition}:ssm:${region}:${account}:parameter${parameter}`],
    });
    this.runner = new ServiceFunction(this, "canary", {
      ...props,
      // At most fifteen requests of eight seconds each, and the read of the key.
      timeout: Duration.minutes(3),
      // Little, because it mostly waits for responses.
      memorySize: 256,
      environment: {
        API_URL: `https://${host}/`,
        KEY_PARAMETER: parameter,
      },
      statements: [readKey],
    });
    this.schedule = scheduleFunction(this, this.runner, "rate(5 minutes)");
  }
}
