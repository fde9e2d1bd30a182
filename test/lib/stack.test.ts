import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { App } from "aws-cdk-lib";
import { Template } from "aws-cdk-lib/assertions";
import { expect, test } from "vitest";
import { createConfig } from "../../lib/config/config.ts";
import { ServiceStack } from "../../lib/stack.ts";
import { routes } from "../../shared/routes.ts";
import { createDirectory, only, synthesize, writeBundles } from "../support/synthesize.ts";
import { withEveryAlarm } from "./monitoring/support/alarms.ts";

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

test("the names, logical ids and outputs that docs/compatibility.md promises are these", () => {
  const { template } = prod;
  const [table, bus] = [only(template, "AWS::DynamoDB::Table"), only(template, "AWS::Events::EventBus")];
  expect([table.id, bus.id]).toEqual(["TableCD117FA1", "EventsBus45DE4339"]);
  expect([table.properties.TableName, bus.properties.Name]).toEqual(
    Array(2).fill("leads-and-conversations-prod"),
  );
  expect(Object.keys(template.findOutputs("*"))).toEqual(
    expect.arrayContaining(["ApiUrl", "TableName", "EventBusName"]),
  );
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

test("accounts usage finds the log group of each route by its logical id", () => {
  const resources = prod.template.toJSON().Resources;
  const routeFunctions = [...prod.functions].filter(([, name]) => Object.hasOwn(routes, name));
  expect(routeFunctions).toHaveLength(Object.keys(routes).length);
  for (const [id, name] of routeFunctions) {
    const group = resources[id].Properties.LoggingConfig.LogGroup.Ref;
    expect(group).toMatch(new RegExp(`^${name.replaceAll("-", "")}Logs`));
    expect(resources[group].Properties.LogGroupName).toBeUndefined();
  }
});

test.each([
  ["CountingFailuresUrl", "Counting"],
  ["EventFailuresUrl", "Events"],
])("the output %s has the failure queue of %s", (name, construct) => {
  const { id } = only(prod.template, "AWS::SQS::Queue", construct);
  expect(prod.template.findOutputs(name)).toMatchObject({ [name]: { Value: { Ref: id } } });
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
