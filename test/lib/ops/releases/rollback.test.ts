import { CloudFormationClient, DescribeStacksCommand } from "@aws-sdk/client-cloudformation";
import {
  ApplicationDoesNotExistException,
  CodeDeployClient,
  DeploymentAlreadyCompletedException,
  ListDeploymentGroupsCommand,
  ListDeploymentsCommand,
  StopDeploymentCommand,
} from "@aws-sdk/client-codedeploy";
import { DynamoDBClient, UpdateItemCommand } from "@aws-sdk/client-dynamodb";
import { LambdaClient, ListVersionsByFunctionCommand, UpdateAliasCommand } from "@aws-sdk/client-lambda";
import { DynamoDBDocumentClient, GetCommand } from "@aws-sdk/lib-dynamodb";
import { beforeEach, expect, test, vi } from "vitest";
import { functionNames } from "../../../../lib/bundling/bundle.ts";
import { rollbackCommand } from "../../../../lib/ops/releases/rollback-command.ts";
import { releaseKey } from "../../../../shared/dynamodb/keys.ts";
import { mockClient } from "../../../support/mocked-client.ts";

const [old, bad, other] = ["1.0.0+aaaaaaa", "1.0.1+bbbbbbb", "1.1.0+ccccccc"];
const stackName = "leads-and-conversations-prod";

const cloudFormation = mockClient(CloudFormationClient);
const codeDeploy = mockClient(CodeDeployClient);
const lambda = mockClient(LambdaClient);
const table = mockClient(DynamoDBDocumentClient);
const rawTable = mockClient(DynamoDBClient);
const printed: string[] = [];
vi.spyOn(console, "log").mockImplementation((line) => void printed.push(line));

/** The version that the alias of each function runs. */
let live: Map<string, string | undefined>;

const stack = (StackStatus: "UPDATE_COMPLETE" | "UPDATE_IN_PROGRESS") => ({
  Stacks: [
    {
      ...{ StackName: stackName, CreationTime: new Date(), StackStatus },
      Outputs: [
        {
          OutputKey: "FunctionNames",
          OutputValue: JSON.stringify(
            Object.fromEntries(functionNames.map((name) => [name, `prod-${name}`])),
          ),
        },
      ],
    },
  ],
});

/** Two pages of versions, the oldest first; a release that was deployed again has two. */
function versionsOf(marker: string | undefined) {
  const version = (Version: string, Description?: string) => ({
    Version,
    ...(Description && { Description }),
  });
  if (!marker)
    return {
      NextMarker: "more",
      Versions: [version("$LATEST"), version("1"), version("2", `${old}, data format 1`)],
    };
  return {
    Versions: [
      version("9", `${other}, data format 2`),
      version("10", `${old}, data format 1`),
      version("11", `${bad}, data format 1`),
    ],
  };
}

beforeEach(() => {
  for (const client of [cloudFormation, codeDeploy, lambda, table, rawTable]) client.reset();
  printed.length = 0;
  live = new Map(functionNames.map((name) => [`prod-${name}`, "11"]));
  cloudFormation.on(DescribeStacksCommand, { StackName: stackName }).resolves(stack("UPDATE_COMPLETE"));
  codeDeploy
    .on(ListDeploymentGroupsCommand)
    .rejects(new ApplicationDoesNotExistException({ $metadata: {}, message: "None." }));
  lambda.on(ListVersionsByFunctionCommand).callsFake(({ Marker }) => versionsOf(Marker));
  lambda.on(UpdateAliasCommand).callsFake(({ FunctionName, FunctionVersion }) => {
    live.set(FunctionName, FunctionVersion);
    return {};
  });
  table.on(GetCommand, { Key: releaseKey }).resolves({ Item: { releaseName: bad, dataFormat: 1 } });
  table.on(UpdateItemCommand).resolves({});
});

/** @returns the message of its error */
const rollBack = (to: string | undefined, ...args: string[]) =>
  rollbackCommand()
    .exitOverride()
    .parseAsync(["--stage", "prod", "--to", String(to), ...args], { from: "user" })
    .then(
      () => undefined,
      (error: Error) => error.message,
    );

const versions = () => new Set(live.values());

test("every function runs the newest version of the release, and the table knows it", async () => {
  expect(await rollBack(old)).toBeUndefined();
  expect([...versions()]).toEqual(["10"]);
  const inputs = lambda.commandCalls(UpdateAliasCommand).map(({ args }) => args[0].input);
  expect(inputs).toHaveLength(functionNames.length);
  for (const input of inputs)
    expect(input).toMatchObject({ Name: "live", RoutingConfig: { AdditionalVersionWeights: {} } });
  expect(printed).toEqual([
    ...functionNames.map((name) => `${name} runs version 10.`),
    `The stage prod runs the release ${old}.`,
  ]);
  const [write] = table.commandCalls(UpdateItemCommand);
  expect(write?.args[0].input).toMatchObject({
    TableName: stackName,
    ExpressionAttributeValues: { ":release": { S: old }, ":dataFormat": { N: "1" } },
  });
});

test("a table without a release has the first data format, as for every other command", async () => {
  table.on(GetCommand, { Key: releaseKey }).resolves({});
  expect(await rollBack(old)).toBeUndefined();
  expect([...versions()]).toEqual(["10"]);
});

test("a dry run changes nothing", async () => {
  expect(await rollBack(old, "--dry-run")).toBeUndefined();
  expect([...versions()]).toEqual(["11"]);
  expect(printed).toContain("authorize would run version 10.");
  expect(table.commandCalls(UpdateItemCommand)).toEqual([]);
  expect(codeDeploy.calls()).toEqual([]);
});

test("a function that was added since the release stays as it is", async () => {
  lambda
    .on(ListVersionsByFunctionCommand, { FunctionName: "prod-canary" })
    .resolves({ Versions: [{ Version: "3", Description: `${bad}, data format 1` }] });
  expect(await rollBack(old)).toBeUndefined();
  expect(live.get("prod-canary")).toBe("11");
  live.delete("prod-canary");
  expect([...versions()]).toEqual(["10"]);
  expect(printed).toContain(`canary has no version of ${old}, and stays as it is.`);
});

test("a release of which there is no version is refused, with those that there are", async () => {
  expect(await rollBack("1.0.0+0000000")).toBe(
    `No function has a version of 1.0.0+0000000. There are: ${[old, other, bad].join(", ")}.`,
  );
  expect([...versions()]).toEqual(["11"]);
});

test("a release of another data format is refused", async () => {
  expect(await rollBack(other)).toBe(
    `The release ${other} has the data format 2, but the table has 1: correct the new code instead.`,
  );
  expect([...versions()]).toEqual(["11"]);
});

test("a failure half way says how far it came, and the command can run again", async () => {
  const broken = "prod-maintain-counts";
  const denied = Object.assign(new Error("Not authorized."), { name: "AccessDeniedException" });
  lambda
    .on(UpdateAliasCommand, { FunctionName: broken })
    .rejectsOnce(denied)
    .callsFake(() => {
      live.set(broken, "10");
      return {};
    });
  const done = functionNames.indexOf("maintain-counts");
  expect(await rollBack(old)).toBe(
    `${done} of ${functionNames.length} functions run ${old}. AWS denied access: Not authorized. Run the command again.`,
  );
  expect([...versions()]).toEqual(["10", "11"]);
  expect(table.commandCalls(UpdateItemCommand)).toEqual([]);
  expect(await rollBack(old)).toBeUndefined();
  expect([...versions()]).toEqual(["10"]);
});

test("gradual deployments that run are stopped before, and their share of requests ends", async () => {
  cloudFormation.on(DescribeStacksCommand).resolves(stack("UPDATE_IN_PROGRESS"));
  codeDeploy.on(ListDeploymentGroupsCommand).resolves({ deploymentGroups: ["one", "two"] });
  codeDeploy
    .on(ListDeploymentsCommand, { deploymentGroupName: "two" })
    .resolves({ deployments: ["d-1", "d-2"] })
    .on(ListDeploymentsCommand, { deploymentGroupName: "one" })
    .resolves({ deployments: [] });
  codeDeploy
    .on(StopDeploymentCommand)
    .callsFake(() => {
      expect([...versions()]).toEqual(["11"]);
      return {};
    })
    .on(StopDeploymentCommand, { deploymentId: "d-2" })
    .rejects(new DeploymentAlreadyCompletedException({ $metadata: {}, message: "By an alarm." }));
  expect(await rollBack(old)).toContain("run the command again when it is done");
  const stopped = codeDeploy.commandCalls(StopDeploymentCommand).map(({ args }) => args[0].input);
  expect(stopped).toEqual(
    ["d-1", "d-2"].map((deploymentId) => ({ deploymentId, autoRollbackEnabled: true })),
  );
  expect([...versions()]).toEqual(["10"]);
});
