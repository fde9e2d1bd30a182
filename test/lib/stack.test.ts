import { execFile } from "node:child_process";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { App } from "aws-cdk-lib";
import { Template } from "aws-cdk-lib/assertions";
import { expect, onTestFinished, test } from "vitest";
import { createConfig } from "../../lib/config/config.ts";
import { ServiceStack } from "../../lib/stack.ts";
import { only, synthesize } from "../support/synthesize.ts";
import { withEveryAlarm } from "./monitoring/support/every-alarm.ts";

const root = join(import.meta.dirname, "../..");
const prod = await synthesize("prod");

test("in an app without this project's feature flags, the stack is the same", () => {
  const app = new App();
  const config = createConfig("prod", { canary: true });
  const stack = new ServiceStack(app, { config, bundles: join(prod.app.outdir, "../bundles") });
  expect(Template.fromStack(stack).toJSON()).toEqual(prod.template.toJSON());
});

test("the outputs have what the runbook and the documents read", async () => {
  const { template } = await synthesize("prod", withEveryAlarm);
  const outputs = Object.keys(template.findOutputs("*"));
  const pages = ["operations", "deploying", "delivery"].map((page) =>
    readFile(join(root, "docs", `${page}.md`), "utf8"),
  );
  const text = (await Promise.all(pages)).join("\n");
  const read = [...text.matchAll(/\$\(output (\w+)\)/g)].map(([, name = ""]) => name);
  expect(read.length).toBeGreaterThan(0);
  expect(read.filter((name) => !outputs.includes(name))).toEqual([]);
  expect(outputs.filter((name) => !text.includes(`\`${name}\``) && !read.includes(name))).toEqual([]);
});

test("the outputs name every function and its log group", () => {
  const { template, functions } = prod;
  const value = (name: string) => JSON.stringify(template.findOutputs(name)[name]?.Value);
  const [names, groups] = [value("FunctionNames"), value("FunctionLogGroups")];
  expect(functions.size).toBe(8);
  for (const [id, name] of functions) {
    expect(names).toContain(JSON.stringify(`"${name}":"`).slice(1, -1));
    expect(names).toContain(`{"Ref":"${id}"}`);
    const { LogGroup } = template.toJSON().Resources[id].Properties.LoggingConfig;
    expect(groups).toContain(JSON.stringify(LogGroup));
  }
});

test("the example synthesizes two cells with resources of its own", async () => {
  const outdir = await mkdtemp(join(tmpdir(), "cells-"));
  onTestFinished(() => rm(outdir, { recursive: true }));
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
    expect(Object.keys(service.toJSON().Resources)).toEqual(
      expect.arrayContaining([only(prod.template, "AWS::DynamoDB::Table").id]),
    );
    const connector = Template.fromJSON(await read(`connector-${cell}.template.json`));
    const bus = only(connector, "AWS::Events::Rule").properties.EventBusName["Fn::ImportValue"];
    const { Value } =
      Object.values(service.findOutputs("*")).find(({ Export }) => Export?.Name === bus) ?? {};
    expect(Value).toEqual({ Ref: only(service, "AWS::Events::EventBus").id });
    expect(connector.findOutputs("ServiceUrl")).not.toEqual({});
  }
});
