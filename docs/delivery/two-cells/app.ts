import { join } from "node:path";
import { App, CfnOutput, Duration, Stack } from "aws-cdk-lib";
import { Rule } from "aws-cdk-lib/aws-events";
import { SqsQueue } from "aws-cdk-lib/aws-events-targets";
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

  // Resources of your own: here, a queue with the messages that a connector delivers to WhatsApp.
  const connector = new Stack(app, `connector-${cell}`, { env: location });
  const messages = new Queue(connector, "Messages", { enforceSSL: true, retentionPeriod: Duration.days(14) });
  new Rule(connector, "WhatsApp", {
    eventBus: service.events.bus,
    eventPattern: { detailType: ["message.sent"], detail: { version: [1], channel: ["whatsapp"] } },
    targets: [new SqsQueue(messages)],
  });
  new CfnOutput(connector, "ServiceUrl", { value: service.api.url });
}

app.synth();
