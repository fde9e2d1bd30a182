import { execFile } from "node:child_process";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { App, Validations } from "aws-cdk-lib";
import { Template } from "aws-cdk-lib/assertions";
import { AwsSolutionsChecks, ServerlessChecks } from "cdk-nag";
import { expect, test, vi } from "vitest";
import { WebhookStack } from "../../docs/webhook/webhook-stack.ts";
import { createDirectory, only } from "../support/synthesize.ts";

test("the example posts the events of one account with a secret, retries them for a day and keeps what fails", async () => {
  const outdir = await createDirectory();
  const cwd = join(import.meta.dirname, "../../docs/webhook");
  await promisify(execFile)(process.execPath, ["app.ts"], {
    cwd,
    // Validating the template takes longer than all else.
    env: { ...process.env, CDK_OUTDIR: outdir, CDK_VALIDATION: "false" },
  });
  const template = Template.fromJSON(
    JSON.parse(await readFile(join(outdir, "leads-webhook.template.json"), "utf8")),
  );
  const connection = only(template, "AWS::Events::Connection");
  expect(connection.properties.AuthParameters.ApiKeyAuthParameters).toEqual({
    ApiKeyName: "X-Webhook-Secret",
    ApiKeyValue: "{{resolve:secretsmanager:leads-webhook:SecretString:::}}",
  });
  const receiver = only(template, "AWS::Events::ApiDestination");
  expect(receiver.properties).toMatchObject({
    ConnectionArn: { "Fn::GetAtt": [connection.id, "Arn"] },
    HttpMethod: "POST",
    InvocationEndpoint: "https://hooks.example.com/leads",
    InvocationRateLimitPerSecond: 50,
  });
  const queue = only(template, "AWS::SQS::Queue");
  const { Targets, ...rule } = only(template, "AWS::Events::Rule").properties;
  expect(rule).toMatchObject({
    EventBusName: "leads-and-conversations-prod",
    EventPattern: { source: ["leads-and-conversations"], detail: { version: [1], account: ["acme"] } },
  });
  expect(Targets).toEqual([
    {
      Id: "Target0",
      Arn: { "Fn::GetAtt": [receiver.id, "Arn"] },
      RoleArn: { "Fn::GetAtt": [only(template, "AWS::IAM::Role").id, "Arn"] },
      DeadLetterConfig: { Arn: { "Fn::GetAtt": [queue.id, "Arn"] } },
      RetryPolicy: { MaximumRetryAttempts: 185, MaximumEventAgeInSeconds: 86_400 },
    },
  ]);
  const [statement, ...others] = only(template, "AWS::IAM::Policy").properties.PolicyDocument.Statement;
  expect([statement.Action, others]).toEqual(["events:InvokeApiDestination", []]);
});

test("cdk-nag finds nothing in the example that is not acknowledged", async () => {
  const app = new App({ outdir: await createDirectory(), autoSynth: false });
  const props = { stage: "prod", account: "acme", url: "https://hooks.example.com", secretName: "secret" };
  new WebhookStack(app, "webhook", props);
  Validations.of(app).addPlugins(new AwsSolutionsChecks(app), new ServerlessChecks(app));
  vi.stubEnv("CDK_VALIDATION", "false");
  const { directory } = app.synth();
  const report = JSON.parse(await readFile(join(directory, "validation-report.json"), "utf8"));
  expect(report.pluginReports).toEqual([]);
});
