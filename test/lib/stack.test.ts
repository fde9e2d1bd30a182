import { execFile } from "node:child_process";
import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { App } from "aws-cdk-lib";
import { Template } from "aws-cdk-lib/assertions";
import { expect, test } from "vitest";
import { createConfig } from "../../lib/config/config.ts";
import { ServiceStack } from "../../lib/stack.ts";
import { withEveryAlarm } from "../support/stack/stage-files.ts";
import { createDirectory, only, synthesize, writeBundles } from "../support/stack/synthesize.ts";

const root = join(import.meta.dirname, "../..");
const prod = await synthesize("prod");

test("in an app without this project's feature flags, the stack is the same", async () => {
  const outdir = await createDirectory();
  const bundles = join(outdir, "bundles");
  await writeBundles(bundles);
  const config = createConfig("prod", { canary: true });
  const stack = new ServiceStack(new App({ outdir }), { config, bundles });
  expect(Template.fromStack(stack).toJSON()).toEqual(prod.template.toJSON());
});

// The CDK's command line passes the directory and the flags in environment variables.
test("`cdk deploy` with a mistake fails with one sentence, and synthesizes nothing", async () => {
  const CDK_OUTDIR = await createDirectory();
  const { app, context } = JSON.parse(await readFile(join(root, "cdk.json"), "utf8"));
  const CDK_CONTEXT_JSON = JSON.stringify({ ...context, stage: "nowhere" });
  const options = { cwd: root, env: { ...process.env, CDK_OUTDIR, CDK_CONTEXT_JSON } };
  await expect(promisify(execFile)(process.execPath, app.split(" ").slice(1), options)).rejects.toMatchObject(
    {
      code: 1,
      stderr: expect.stringMatching(/^There is no stages\/nowhere\.json: .*\n$/),
    },
  );
  expect(await readdir(CDK_OUTDIR)).toEqual([]);
});

test("the names and logical ids that docs/compatibility.md promises do not change", () => {
  const { template } = prod;
  const [table, bus] = [only(template, "AWS::DynamoDB::Table"), only(template, "AWS::Events::EventBus")];
  expect([table.id, bus.id]).toEqual(["TableCD117FA1", "EventsBus45DE4339"]);
  expect([table.properties.TableName, bus.properties.Name]).toEqual(
    Array(2).fill("leads-and-conversations-prod"),
  );
});

test("the stack has every output that the documents read, and every output is documented", async () => {
  const { template } = await synthesize("prod", withEveryAlarm);
  const outputs = Object.keys(template.findOutputs("*"));
  const pages = ["operations.md", "operations/shell.sh", "deploying.md", "delivery.md", "channels.md"].map(
    (page) => readFile(join(root, "docs", page), "utf8"),
  );
  const text = (await Promise.all(pages)).join("\n");
  const read = [...text.matchAll(/\$\(output (\w+)\)/g)].map(([, name = ""]) => name);
  expect(read.length).toBeGreaterThan(0);
  expect(read.filter((name) => !outputs.includes(name))).toEqual([]);
  expect(outputs.filter((name) => !text.includes(`\`${name}\``) && !read.includes(name))).toEqual([]);
});

test("the outputs are the URL of the API and the names of the resources that operators use", () => {
  const { template } = prod;
  const { FunctionNames, FunctionLogGroups, Release, DataFormat, ...outputs } = template.findOutputs("*");
  const ref = (type: string, within = "") => ({ Value: { Ref: only(template, type, within).id } });
  expect(outputs).toEqual({
    ApiUrl: { Value: { "Fn::GetAtt": [only(template, "AWS::ApiGatewayV2::Api").id, "ApiEndpoint"] } },
    EventBusName: ref("AWS::Events::EventBus"),
    TableName: ref("AWS::DynamoDB::Table"),
    CanarySchedule: ref("AWS::Scheduler::Schedule", "Canary"),
    CountingSourceId: ref("AWS::Lambda::EventSourceMapping", "Counting"),
    CountingFailuresUrl: ref("AWS::SQS::Queue", "Counting"),
    EventsSourceId: ref("AWS::Lambda::EventSourceMapping", "Events"),
    EventFailuresUrl: ref("AWS::SQS::Queue", "Events"),
  });
});

test("the outputs name every function and its log group", () => {
  const { template, functions } = prod;
  const value = (name: string) => JSON.stringify(template.findOutputs(name)[name]?.Value);
  const [names, groups] = [value("FunctionNames"), value("FunctionLogGroups")];
  expect(functions.size).toBe(9);
  for (const [id, name] of functions) {
    expect(names).toContain(JSON.stringify(`"${name}":"`).slice(1, -1));
    expect(names).toContain(`{"Ref":"${id}"}`);
    const { LogGroup } = template.toJSON().Resources[id].Properties.LoggingConfig;
    expect(groups).toContain(JSON.stringify(LogGroup));
  }
});
