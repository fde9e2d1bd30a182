import { Template } from "aws-cdk-lib/assertions";
import type { CfnFunction } from "aws-cdk-lib/aws-lambda";
import { expect, test } from "vitest";
import { createTestApp, only, synthesize } from "../../support/stack/synthesize.ts";

const settings = { deployment: "canary", channels: true };
const stackName = "leads-and-conversations-prod";
const { template, functions, aliases } = await synthesize("prod", settings);
const served = ["authorize", "list-leads", "create-lead", "list-conversations", "send-message"];
const shifted = [...served, "maintain-counts", "publish-events", "deliver-message", "receive-webhook"];

const resources = template.toJSON().Resources;

test("Each function has an alias of its current version, and a version is deleted only if its deployment fails", () => {
  expect([...aliases.values()].sort()).toEqual([...functions.values()].sort());
  for (const { Properties } of Object.values(template.findResources("AWS::Lambda::Alias"))) {
    const version = resources[Properties.FunctionVersion["Fn::GetAtt"][0]];
    expect(version.Properties.FunctionName).toEqual(Properties.FunctionName);
    expect(version.DeletionPolicy).toBe("RetainExceptOnCreate");
    expect(Properties.Name).toBe("live");
  }
});

/** The ids of the versions. A new id makes Lambda publish a version, which fails if nothing else has changed. */
const versions = (of: typeof template) => Object.keys(of.findResources("AWS::Lambda::Version")).sort();

const pins = { account: "111111111111", region: "eu-central-1" };

test.each([
  { region: pins.region },
  { account: pins.account },
  pins,
  { deployment: "all-at-once" },
])("A stage to which %j is added keeps the versions, the aliases and the code of its functions", async (added) => {
  const changed = await synthesize("prod", { ...settings, ...added });
  expect(versions(changed.template)).toEqual(versions(template));
  expect(changed.aliases).toEqual(aliases);
  expect(versions(template)).toHaveLength(functions.size);
  for (const id of functions.keys())
    expect(changed.template.toJSON().Resources[id].Properties.Code).toEqual(resources[id].Properties.Code);
});

test("Other code or another setting of a function makes a new version", async () => {
  const app = await createTestApp("prod", { ...settings, ...pins }, false);
  const stack = app.node.findChild(stackName);
  const [authorize, list] = [stack.node.findChild("authorize"), stack.node.findChild("list-leads")].map(
    (fn) => fn.node.findChild("Function").node.findChild("Resource") as CfnFunction,
  );
  authorize?.addPropertyOverride("Code.S3Key", "other.zip");
  if (list) list.timeout = 9;
  const changed = versions(Template.fromJSON(app.synth().getStackByName(stackName).template));
  expect(changed.filter((id) => !versions(template).includes(id))).toHaveLength(2);
});

test("One CodeDeploy application shifts the requests of each alias, and rolls back after an alarm", () => {
  const application = only(template, "AWS::CodeDeploy::Application");
  expect(application.properties).toEqual({ ApplicationName: stackName, ComputePlatform: "Lambda" });
  const groups = template.findResources("AWS::CodeDeploy::DeploymentGroup");
  const updated = Object.entries(template.findResources("AWS::Lambda::Alias")).flatMap(([id, alias]) =>
    alias.UpdatePolicy ? [{ name: aliases.get(id), ...alias.UpdatePolicy.CodeDeployLambdaAliasUpdate }] : [],
  );
  expect(updated.map(({ name }) => name).sort()).toEqual([...shifted].sort());
  expect(updated.map(({ ApplicationName }) => ApplicationName)).toEqual(
    Array(shifted.length).fill({ Ref: application.id }),
  );
  expect(updated.map(({ DeploymentGroupName }) => DeploymentGroupName.Ref).sort()).toEqual(
    Object.keys(groups).sort(),
  );
  // CodeDeploy accepts ten alarms.
  const alarms = [
    "server-errors-authorize",
    "server-errors-lists",
    "server-errors-writes",
    "slow-answers",
    "new-version-errors",
  ];
  for (const { Properties } of Object.values(groups)) {
    expect(Properties).toMatchObject({
      ApplicationName: { Ref: application.id },
      DeploymentConfigName: "CodeDeployDefault.LambdaCanary10Percent30Minutes",
      AutoRollbackConfiguration: {
        Enabled: true,
        Events: ["DEPLOYMENT_FAILURE", "DEPLOYMENT_STOP_ON_REQUEST", "DEPLOYMENT_STOP_ON_ALARM"],
      },
    });
    const ids = Properties.AlarmConfiguration.Alarms.map(({ Name }: { Name: { Ref: string } }) => Name.Ref);
    expect(ids.map((id: string) => resources[id].Properties.AlarmName)).toEqual(
      alarms.map((name) => `${stackName}-${name}`),
    );
  }
});
