import { join } from "node:path";
import { App, CfnOutput, Duration, Stack, Tags } from "aws-cdk-lib";
import type { CfnTable } from "aws-cdk-lib/aws-dynamodb";
import { Rule } from "aws-cdk-lib/aws-events";
import { SqsQueue } from "aws-cdk-lib/aws-events-targets";
import { AnyPrincipal, ManagedPolicy, PermissionsBoundary, PolicyStatement } from "aws-cdk-lib/aws-iam";
import { Key } from "aws-cdk-lib/aws-kms";
import { Queue } from "aws-cdk-lib/aws-sqs";
import { bundleFunctions } from "leads-and-conversations-api/bundles";
import { createConfig } from "leads-and-conversations-api/config";
import { ServiceStack } from "leads-and-conversations-api/stack";

/** Each cell is the whole service, in an AWS account and a region of its own. */
const cells = {
  eu: { account: "111111111111", region: "eu-central-1" },
  us: { account: "222222222222", region: "us-east-1" },
};

const app = new App();
const bundles = await bundleFunctions(join(app.outdir, "bundles"));

for (const [cell, location] of Object.entries(cells)) {
  const config = createConfig(cell, { ...location, canary: true, deployment: "canary" });
  const service = new ServiceStack(app, { config, bundles });

  // What your company asks of every stack.
  Tags.of(service).add("team", "sales");
  PermissionsBoundary.of(service).apply(
    ManagedPolicy.fromManagedPolicyName(service, "Boundary", "developer-boundary"),
  );

  // A key of your own. By this policy, whoever may use the table may use its key, but for nothing else.
  const key = new Key(service, "TableKey", { enableKeyRotation: true });
  const viaTable = {
    "kms:CallerAccount": location.account,
    "kms:ViaService": `dynamodb.${location.region}.amazonaws.com`,
  };
  key.addToResourcePolicy(
    new PolicyStatement({
      principals: [new AnyPrincipal()],
      actions: [
        "kms:Encrypt",
        "kms:Decrypt",
        "kms:ReEncrypt*",
        "kms:GenerateDataKey*",
        "kms:CreateGrant",
        "kms:DescribeKey",
      ],
      resources: ["*"],
      conditions: { StringEquals: viaTable },
    }),
  );
  const table = service.table.node.defaultChild as CfnTable;
  table.sseSpecification = { sseEnabled: true, sseType: "KMS", kmsMasterKeyId: key.keyArn };

  // Resources of your own: here, a queue with the messages that a connector delivers by SMS.
  const connector = new Stack(app, `connector-${cell}`, { env: location });
  const messages = new Queue(connector, "Messages", { enforceSSL: true, retentionPeriod: Duration.days(14) });
  new Rule(connector, "Sms", {
    eventBus: service.events.bus,
    eventPattern: { detailType: ["message.sent"], detail: { version: [1], channel: ["sms"] } },
    targets: [new SqsQueue(messages)],
  });
  new CfnOutput(connector, "ServiceUrl", { value: service.api.url });
}

app.synth();
