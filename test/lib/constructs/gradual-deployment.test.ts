import { Template } from "aws-cdk-lib/assertions";
import type { CfnFunction } from "aws-cdk-lib/aws-lambda";
import { expect, test } from "vitest";
import { createTestApp, only, synthesize } from "../../support/stack/synthesize.ts";

const settings = { deployment: "canary", channels: true };
const prod = await synthesize("prod", { channels: true });
const stackName = "leads-and-conversations-prod";
const { template, functions, aliases } = await synthesize("prod", settings);
const served = ["authorize", "list-leads", "create-lead", "list-conversations", "send-message"];
const shifted = [...served, "maintain-counts", "publish-events", "deliver-message", "receive-webhook"];

type Resources = Readonly<
  Record<string, { Type: string; Properties: Record<string, unknown>; DependsOn?: string[] }>
>;
const resources: Resources = template.toJSON().Resources;

const find = (type: string) => Object.entries(resources).filter(([, { Type }]) => Type === type);

const alarmNames = (group: Record<string, unknown>) =>
  (group.AlarmConfiguration as { Alarms: { Name: { Ref: string } }[] }).Alarms.map(
    ({ Name }) => resources[Name.Ref]?.Properties.AlarmName,
  );

test("Each function has an alias of its current version, and a version is deleted only if its deployment fails", () => {
  expect([...aliases.values()].sort()).toEqual([...functions.values()].sort());
  for (const [, { Properties }] of find("AWS::Lambda::Alias")) {
    const [version] = (Properties.FunctionVersion as { "Fn::GetAtt": [string] })["Fn::GetAtt"];
    expect(resources[version]?.Properties.FunctionName).toEqual(Properties.FunctionName);
    expect(resources[version]).toHaveProperty("DeletionPolicy", "RetainExceptOnCreate");
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
])("A stage to which %j is added keeps the versions and the code of its functions", async (pin) => {
  const pinned = await synthesize("prod", { ...settings, ...pin });
  expect(versions(pinned.template)).toEqual(versions(template));
  expect(versions(template)).toHaveLength(functions.size);
  for (const [id, name] of functions) {
    expect([name, pinned.template.toJSON().Resources[id].Properties.Code]).toEqual([
      name,
      resources[id]?.Properties.Code,
    ]);
  }
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
  const groups = new Map(find("AWS::CodeDeploy::DeploymentGroup"));
  const shifting = Object.entries(template.findResources("AWS::Lambda::Alias")).filter(
    ([, { UpdatePolicy }]) => UpdatePolicy,
  );
  expect(shifting.map(([id]) => aliases.get(id)).sort()).toEqual([...shifted].sort());
  const used = shifting.map(([, { UpdatePolicy }]) => {
    const { ApplicationName, DeploymentGroupName } = UpdatePolicy.CodeDeployLambdaAliasUpdate;
    expect(ApplicationName).toEqual({ Ref: application.id });
    return DeploymentGroupName.Ref;
  });
  expect(used.sort()).toEqual([...groups.keys()].sort());
  expect(groups.size).toBe(shifted.length);
  for (const { Properties } of groups.values()) {
    expect(Properties).toMatchObject({
      ApplicationName: { Ref: application.id },
      DeploymentConfigName: "CodeDeployDefault.LambdaCanary10Percent30Minutes",
      AutoRollbackConfiguration: {
        Enabled: true,
        Events: ["DEPLOYMENT_FAILURE", "DEPLOYMENT_STOP_ON_REQUEST", "DEPLOYMENT_STOP_ON_ALARM"],
      },
    });
    // CodeDeploy accepts ten alarms.
    expect(alarmNames(Properties)).toEqual(
      [
        ...["server-errors-authorize", "server-errors-lists", "server-errors-writes", "slow-answers"],
        "new-version-errors",
      ].map((name) => `${stackName}-${name}`),
    );
  }
});

test("Without gradual deployments, the stack has the same aliases, and nothing of CodeDeploy", () => {
  for (const type of ["AWS::Lambda::Alias", "AWS::Lambda::Version"])
    expect(Object.keys(prod.template.findResources(type)).sort()).toEqual(
      Object.keys(template.findResources(type)).sort(),
    );
  for (const type of ["Lambda::Permission", "ApiGatewayV2::Integration", "ApiGatewayV2::Authorizer"])
    expect(prod.template.findResources(`AWS::${type}`)).toEqual(template.findResources(`AWS::${type}`));
  prod.template.resourceCountIs("AWS::CodeDeploy::Application", 0);
  expect(JSON.stringify(prod.template.toJSON())).not.toContain("new-version-errors");
});
