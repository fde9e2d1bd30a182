import { readFile } from "node:fs/promises";
import { createServer } from "node:http";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { GetParameterCommand, SSMClient } from "@aws-sdk/client-ssm";
import { App, Validations } from "aws-cdk-lib";
import { Match, Template } from "aws-cdk-lib/assertions";
import type { SQSEvent } from "aws-lambda";
import { AwsSolutionsChecks, ServerlessChecks } from "cdk-nag";
import { Webhook } from "standardwebhooks";
import { expect, test, vi } from "vitest";
import { WebhookStack } from "../../docs/webhook/webhook-stack.ts";
import { listening } from "../support/requests/listening.ts";
import { createDirectory, only } from "../support/stack/synthesize.ts";
import { mockClient } from "../support/tables/mocked-client.ts";

test("the example queues the events of one account, retries them for a day and keeps what fails; every cdk-nag finding is acknowledged", async () => {
  const app = new App({ outdir: await createDirectory(), autoSynth: false });
  const props = { stage: "prod", account: "acme", url: "https://hooks.example.com", secretName: "/secret" };
  new WebhookStack(app, "webhook", props);
  Validations.of(app).addPlugins(new AwsSolutionsChecks(app), new ServerlessChecks(app));
  // Validating the template takes longer than all else.
  vi.stubEnv("CDK_VALIDATION", "false");
  const assembly = app.synth();
  const report = JSON.parse(await readFile(join(assembly.directory, "validation-report.json"), "utf8"));
  expect(report.pluginReports).toEqual([]);
  const template = Template.fromJSON(assembly.getStackByName("webhook").template);
  const arnOf = (queue: string) => ({ "Fn::GetAtt": [only(template, "AWS::SQS::Queue", queue).id, "Arn"] });
  const deadLetters = arnOf("DeadLetters");
  const { EventPattern, Targets } = only(template, "AWS::Events::Rule").properties;
  expect(EventPattern.detail).toEqual({ version: [1], account: ["acme"] });
  expect(Targets).toMatchObject([{ Arn: arnOf("Queue"), DeadLetterConfig: { Arn: deadLetters } }]);
  const { RedrivePolicy, VisibilityTimeout } = only(template, "AWS::SQS::Queue", "Queue").properties;
  expect(RedrivePolicy.deadLetterTargetArn).toEqual(deadLetters);
  expect(RedrivePolicy.maxReceiveCount * VisibilityTimeout).toBe(86_400);
  template.hasResourceProperties("AWS::Lambda::EventSourceMapping", {
    EventSourceArn: arnOf("Queue"),
    BatchSize: 1,
  });
  // The template contains only the name of the secret.
  template.hasResourceProperties("AWS::Lambda::Function", {
    Environment: { Variables: { RECEIVER_URL: Match.anyValue(), SECRET_NAME: "/secret" } },
  });
});

test("a receiver can verify each attempt with the library of Standard Webhooks", async () => {
  const secret = `whsec_${Buffer.alloc(32, "s").toString("base64")}`;
  const attempts: { readonly body: string; readonly headers: Record<string, string> }[] = [];
  let status = 204;
  const server = createServer(async (request, response) => {
    attempts.push({ body: await text(request), headers: request.headers as Record<string, string> });
    response.writeHead(status, { location: "/" }).end();
  });
  vi.stubEnv("RECEIVER_URL", await listening(server));
  vi.stubEnv("SECRET_NAME", "/leads-webhook/secret");
  mockClient(SSMClient)
    .on(GetParameterCommand, { Name: "/leads-webhook/secret", WithDecryption: true })
    .resolves({ Parameter: { Value: secret } });
  const { handler } = await import("../../docs/webhook/post-event.ts");
  const body = JSON.stringify({ detail: { id: "msg_01M7XX83BDX5NTVPPGQKPC08SS", message: "Olá, Ada 👋" } });
  const event = { Records: [{ body }] } as SQSEvent;

  await handler(event);
  for (status of [302, 410, 500]) await expect(handler(event)).rejects.toThrow(String(status));
  server.close();

  expect(attempts).toHaveLength(4);
  const webhook = new Webhook(secret);
  for (const { body, headers } of attempts) {
    expect(webhook.verify(body, headers)).toEqual(JSON.parse(event.Records[0]?.body ?? ""));
    expect(headers["webhook-id"]).toBe("msg_01M7XX83BDX5NTVPPGQKPC08SS");
    expect(() => webhook.verify(body.replace("Ada", "Bob"), headers)).toThrow("No matching signature");
  }
});
