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
  const { AuthParameters } = only(template, "AWS::Events::Connection").properties;
  expect(AuthParameters.ApiKeyAuthParameters.ApiKeyValue).toMatch(/^\{\{resolve:secretsmanager:/);
  const { EventPattern, Targets } = only(template, "AWS::Events::Rule").properties;
  expect(EventPattern.detail).toEqual({ version: [1], account: ["acme"] });
  expect(Targets).toMatchObject([
    {
      DeadLetterConfig: { Arn: { "Fn::GetAtt": [only(template, "AWS::SQS::Queue").id, "Arn"] } },
      RetryPolicy: { MaximumEventAgeInSeconds: 86_400 },
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
