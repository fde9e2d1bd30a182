import { App } from "aws-cdk-lib";
import { WebhookStack } from "./webhook-stack.ts";

const app = new App();
new WebhookStack(app, "leads-webhook", {
  stage: "prod",
  account: "acme",
  url: "https://hooks.example.com/leads",
  secretName: "/leads-webhook/secret",
});
app.synth();
