import { execFile } from "node:child_process";
import { cp, mkdir, readFile, symlink, writeFile } from "node:fs/promises";
import { delimiter, join } from "node:path";
import { promisify } from "node:util";
import { Template } from "aws-cdk-lib/assertions";
import { expect, test } from "vitest";
import { copyProject } from "../support/stack/project-copy.ts";
import { createDirectory, only } from "../support/stack/synthesize.ts";

const root = join(import.meta.dirname, "../..");

/** Runs `cdk synth` in a directory. @returns a reader of the files of the cloud assembly */
async function synthesize(cwd: string, ...flags: readonly string[]) {
  const env = { ...process.env, PATH: `${join(root, "node_modules/.bin")}${delimiter}${process.env.PATH}` };
  await promisify(execFile)("cdk", ["synth", "--quiet", ...flags], { cwd, env });
  return async (file: string) => JSON.parse(await readFile(join(cwd, "cdk.out", file), "utf8"));
}

// Flags are checked first, so this test also shows that all names that the CDK puts into the context are accepted.
test("the cdk command synthesizes dev when it is given no stage", async () => {
  const read = await synthesize(await copyProject());
  const { artifacts } = await read("manifest.json");
  const stacks = Object.keys(artifacts).filter((name) => artifacts[name].type === "aws:cloudformation:stack");
  expect(stacks).toEqual(["leads-and-conversations-dev"]);
});

/** Creates the folder of an app as docs/delivery.md describes it, with the packages that npm would link. */
async function createOwnApp(): Promise<string> {
  const directory = await createDirectory();
  await cp(join(root, "docs/delivery/two-cells"), directory, { recursive: true });
  await mkdir(join(directory, "node_modules"));
  for (const name of ["aws-cdk-lib", "constructs"])
    await symlink(join(root, "node_modules", name), join(directory, "node_modules", name));
  await symlink(root, join(directory, "node_modules/leads-and-conversations-api"));
  await writeFile(join(directory, "package.json"), JSON.stringify({ type: "module" }));
  return directory;
}

test("`cdk synth` makes two cells of the example, each with its own resources", async () => {
  const read = await synthesize(await createOwnApp(), "-c", "@aws-cdk/core:bootstrapQualifier=sales");
  const { artifacts } = await read("manifest.json");
  for (const [cell, environment] of [
    ["eu", "aws://111111111111/eu-central-1"],
    ["us", "aws://222222222222/us-east-1"],
  ] as const) {
    const name = `leads-and-conversations-${cell}`;
    expect(artifacts[name]).toMatchObject({
      environment,
      properties: {
        assumeRoleArn: expect.stringContaining("cdk-sales-deploy-role"),
      },
    });
    expect(artifacts[`connector-${cell}`].environment).toBe(environment);
    const service = Template.fromJSON(await read(`${name}.template.json`));
    const { id, properties } = only(service, "AWS::DynamoDB::Table");
    // The logical ids of a stage do not depend on the app.
    expect(id).toBe("TableCD117FA1");
    expect(properties).toMatchObject({
      ...{ TableName: name, Tags: expect.arrayContaining([{ Key: "team", Value: "sales" }]) },
      SSESpecification: { SSEType: "KMS", KMSMasterKeyId: { "Fn::GetAtt": [expect.any(String), "Arn"] } },
    });
    service.resourceCountIs("AWS::ApiGatewayV2::Route", 4);
    for (const { Properties } of Object.values(service.findResources("AWS::IAM::Role")))
      expect(JSON.stringify(Properties.PermissionsBoundary)).toContain(":policy/developer-boundary");
    const connector = Template.fromJSON(await read(`connector-${cell}.template.json`));
    const bus = only(connector, "AWS::Events::Rule").properties.EventBusName["Fn::ImportValue"];
    const { Value } =
      Object.values(service.findOutputs("*")).find(({ Export }) => Export?.Name === bus) ?? {};
    expect(Value).toEqual({ Ref: only(service, "AWS::Events::EventBus").id });
    expect(connector.findOutputs("ServiceUrl")).not.toEqual({});
  }
});
