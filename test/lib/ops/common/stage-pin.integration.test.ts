import { createServer } from "node:http";
import { expect, onTestFinished, test } from "vitest";
import { listening } from "../../../support/listening.ts";
import { createDataDirectory, ops } from "../../../support/ops.ts";
import { copyProject } from "../../../support/project-copy.ts";

const account = "111111111111";

const identity = (current: string) =>
  `<GetCallerIdentityResponse xmlns="https://sts.amazonaws.com/doc/2011-06-15/"><GetCallerIdentityResult><Account>${current}</Account></GetCallerIdentityResult></GetCallerIdentityResponse>`;

const refused =
  '<ErrorResponse xmlns="https://sts.amazonaws.com/doc/2011-06-15/"><Error><Code>InvalidClientTokenId</Code><Message>The security token is invalid.</Message></Error></ErrorResponse>';

/**
 * Serves STS, and DynamoDB and EventBridge without any table or bus.
 *
 * @param current the AWS account of the credentials; undefined if STS refuses them
 * @returns its URL, and which services were called in which region
 */
async function startAws(current: string | undefined) {
  const calls = new Set<string>();
  const server = createServer((request, response) => {
    const [, region, service] =
      /Credential=[^/]+\/\d+\/([^/]+)\/([^/]+)/.exec(`${request.headers.authorization}`) ?? [];
    calls.add(`${service} in ${region}`);
    request.resume();
    if (service === "sts") {
      response.writeHead(current ? 200 : 403, { "content-type": "text/xml" });
      response.end(current ? identity(current) : refused);
    } else {
      response.writeHead(400, { "content-type": "application/x-amz-json-1.0" });
      response.end('{"__type":"ResourceNotFoundException","message":"Not found"}');
    }
  });
  const url = await listening(server);
  onTestFinished(() => void server.close());
  return { url, calls };
}

/** Runs a command in us-east-1, in a copy of the project with the stages `pinned`, `regional` and `open`. */
async function run(current: string | undefined, ...args: string[]) {
  return runIn("us-east-1", current, ...args);
}

async function runIn(region: string | undefined, current: string | undefined, ...args: string[]) {
  const { url, calls } = await startAws(current);
  const project = await copyProject({
    pinned: { like: "base" },
    base: { account, region: "eu-west-1" },
    regional: { region: "eu-west-1" },
    everywhere: { account },
    open: {},
    wrong: { throttleRate: "5" },
  });
  const env = { AWS_ENDPOINT_URL: url, AWS_ENDPOINT_URL_DYNAMODB: url, AWS_REGION: region };
  const { code, stderr } = await ops(args, { dataDirectory: await createDataDirectory(), project, env });
  return { code, stderr: stderr.trim(), calls: [...calls] };
}

const issue = ["keys", "issue", "--account", "a", "--label", "shop", "--stage"];
const noTable = (stage: string, region: string) =>
  `There is no table leads-and-conversations-${stage} in the region ${region}: check --stage or --table, and the region, which the stage's file or AWS_REGION sets.`;

test("credentials of another AWS account than that of the stage reach no table", async () => {
  expect(await run("222222222222", ...issue, "pinned")).toEqual({
    code: 1,
    stderr: `The stage pinned belongs to the AWS account ${account}, but the credentials are of 222222222222: use those of ${account}.`,
    calls: ["sts in eu-west-1"],
  });
});

test("credentials that AWS refuses reach no table", async () => {
  expect(await run(undefined, ...issue, "pinned")).toEqual({
    code: 1,
    stderr:
      "The AWS account of the credentials is unknown (The security token is invalid.): check the credentials, AWS_REGION and the network.",
    calls: ["sts in eu-west-1"],
  });
});

test("without a region, no credentials are checked", async () => {
  expect(await runIn(undefined, account, ...issue, "everywhere")).toEqual({
    code: 1,
    stderr:
      "The AWS account of the credentials is unknown (Region is missing): check the credentials, AWS_REGION and the network.",
    calls: [],
  });
});

test("credentials of the stage's AWS account reach the table in the stage's region", async () => {
  expect(await run(account, ...issue, "pinned")).toEqual({
    code: 1,
    stderr: noTable("pinned", "eu-west-1"),
    calls: ["sts in eu-west-1", "dynamodb in eu-west-1"],
  });
});

test.each([
  ["regional", "eu-west-1"],
  ["open", "us-east-1"],
  ["no-file", "us-east-1"],
])("the credentials of the stage %s, which has no account, are not checked", async (stage, region) => {
  expect(await run("222222222222", ...issue, stage)).toEqual({
    code: 1,
    stderr: noTable(stage, region),
    calls: [`dynamodb in ${region}`],
  });
});

test("a mistake in the file of the stage is reported in one sentence", async () => {
  expect(await run(account, ...issue, "wrong")).toEqual({
    code: 1,
    stderr: 'stages/wrong.json: throttleRate must be a whole number from 1 to 100000, not "5".',
    calls: [],
  });
});

test("events are sent again to the bus in the stage's region", async () => {
  const since = "2026-01-01T00:00:00Z";
  const args = ["events", "republish", "--all", "--since", since, "--stage", "pinned"];
  expect(await run(account, ...args)).toEqual({
    code: 1,
    stderr: "There is no event bus leads-and-conversations-pinned in the region eu-west-1.",
    calls: ["sts in eu-west-1", "events in eu-west-1"],
  });
});
