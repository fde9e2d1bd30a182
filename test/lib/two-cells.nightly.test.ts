import { execFile } from "node:child_process";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { Template } from "aws-cdk-lib/assertions";
import { expect, test } from "vitest";
import { createDirectory, only } from "../support/synthesize.ts";

const root = join(import.meta.dirname, "../..");

test("the example synthesizes two cells with resources of its own", async () => {
  const outdir = await createDirectory();
  const env = { ...process.env, CDK_OUTDIR: outdir };
  await promisify(execFile)(process.execPath, ["app.ts"], {
    cwd: join(root, "docs/delivery/two-cells"),
    env,
  });
  const read = async (file: string) => JSON.parse(await readFile(join(outdir, file), "utf8"));
  const { artifacts } = await read("manifest.json");
  for (const [cell, environment] of [
    ["eu", "aws://111111111111/eu-central-1"],
    ["us", "aws://222222222222/us-east-1"],
  ] as const) {
    const name = `leads-and-conversations-${cell}`;
    expect(artifacts[name].environment).toBe(environment);
    expect(artifacts[`connector-${cell}`].environment).toBe(environment);
    const service = Template.fromJSON(await read(`${name}.template.json`));
    service.hasResourceProperties("AWS::DynamoDB::Table", { TableName: name });
    service.resourceCountIs("AWS::ApiGatewayV2::Route", 4);
    // The logical ids of a stage do not depend on the app.
    expect(only(service, "AWS::DynamoDB::Table").id).toBe("TableCD117FA1");
    const connector = Template.fromJSON(await read(`connector-${cell}.template.json`));
    const bus = only(connector, "AWS::Events::Rule").properties.EventBusName["Fn::ImportValue"];
    const { Value } =
      Object.values(service.findOutputs("*")).find(({ Export }) => Export?.Name === bus) ?? {};
    expect(Value).toEqual({ Ref: only(service, "AWS::Events::EventBus").id });
    expect(connector.findOutputs("ServiceUrl")).not.toEqual({});
  }
});
