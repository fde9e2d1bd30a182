import { readdir } from "node:fs/promises";
import { createServer, type IncomingHttpHeaders, type Server } from "node:http";
import { createRequire } from "node:module";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { afterAll, beforeAll, beforeEach, expect, onTestFinished, test, vi } from "vitest";
import { bundle } from "../../../lib/bundling/bundle.ts";
import { lambdaModules, lambdaModulesDirectory } from "../../../lib/bundling/lambda-modules.ts";
import { createDirectory } from "../../support/synthesize.ts";

const directory = await createDirectory();
type Sdk = typeof import("./sdk.ts");
let sdk: Sdk;
/** The same without replaced modules. */
let wholeSdk: Sdk;
/** The paths of the modules in the bundle, from the root of the repository. */
let inputs: readonly string[];
let server: Server;
/** The statuses of the next responses, which are 200 after them, and the headers and the body of each. */
let responses: { statuses: number[]; headers: Record<string, string>; body: object };
let received: { readonly headers: IncomingHttpHeaders; readonly body: string }[];

beforeAll(async () => {
  const entry = join(import.meta.dirname, "sdk.ts");
  const outfile = join(directory, "sdk.cjs");
  const wholeOutfile = join(directory, "whole-sdk.cjs");
  const [metafile] = await Promise.all([bundle(entry, outfile), bundle(entry, wholeOutfile, [])]);
  inputs = Object.keys(metafile.inputs);
  const load = createRequire(import.meta.url);
  sdk = load(outfile);
  wholeSdk = load(wholeOutfile);
  server = createServer(async (request, response) => {
    received.push({ headers: request.headers, body: await text(request) });
    const headers = { "content-type": "application/x-amz-json-1.0", ...responses.headers };
    response.writeHead(responses.statuses.shift() ?? 200, headers).end(JSON.stringify(responses.body));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
});
afterAll(() => void server.close());
beforeEach(() => {
  received = [];
  responses = { statuses: [], headers: {}, body: {} };
  for (const name of Object.keys(process.env)) if (name.startsWith("AWS_")) vi.stubEnv(name, undefined);
  vi.stubEnv("AWS_REGION", "eu-west-3");
  vi.stubEnv("AWS_ACCESS_KEY_ID", "AKIDFIRST");
  vi.stubEnv("AWS_SECRET_ACCESS_KEY", "secret");
  vi.stubEnv("AWS_SESSION_TOKEN", "token-1");
  vi.stubEnv("AWS_ENDPOINT_URL_DYNAMODB", `http://127.0.0.1:${(server.address() as AddressInfo).port}`);
  return () => vi.unstubAllEnvs();
});

function createClient({ DynamoDBClient } = sdk, maxAttempts = 1) {
  const client = new DynamoDBClient({ maxAttempts });
  onTestFinished(() => client.destroy());
  return client;
}

const getItem = () => new sdk.GetItemCommand({ TableName: "table", Key: { pk: { S: "a" } } });

// A build fails if the SDK imports what a replacement does not export.
test.each(Object.keys(lambdaModules))("%s is where the SDK imports it, so that it is replaced", (module) => {
  expect(inputs).toContain(`node_modules/${module}`);
});

test("the folder of replacements has no file that replaces nothing", async () => {
  const files = await readdir(lambdaModulesDirectory);
  expect(files.toSorted()).toEqual(Object.values(lambdaModules).toSorted());
});

test("requests are signed with the credentials and the region of Lambda's variables, also when those change", async () => {
  const client = createClient();
  await client.send(getItem());
  vi.stubEnv("AWS_ACCESS_KEY_ID", "AKIDSECOND");
  vi.stubEnv("AWS_SESSION_TOKEN", "token-2");
  await client.send(getItem());
  expect(received.map(({ headers }) => headers["x-amz-security-token"])).toEqual(["token-1", "token-2"]);
  expect(received.map(({ headers }) => headers.authorization)).toEqual([
    expect.stringMatching(/Credential=AKIDFIRST\/\d{8}\/eu-west-3\/dynamodb\/aws4_request/),
    expect.stringMatching(/Credential=AKIDSECOND\/\d{8}\/eu-west-3\/dynamodb\/aws4_request/),
  ]);
});

test("requests have the SDK's own headers, but for its statistics", async () => {
  vi.stubEnv("AWS_EXECUTION_ENV", "AWS_Lambda_nodejs24.x");
  vi.stubEnv("AWS_LAMBDA_FUNCTION_NAME", "list-leads");
  vi.stubEnv("_X_AMZN_TRACE_ID", "Root=1-2-3");
  for (const some of [sdk, wholeSdk]) await createClient(some).send(getItem());
  const [headers, original] = received.map(({ headers: { authorization, ...others } }) => ({
    ...others,
    "amz-sdk-invocation-id": others["amz-sdk-invocation-id"]?.length,
    "x-amz-date": others["x-amz-date"]?.length,
    // The features that the SDK uses, such as where it found the credentials.
    "user-agent": others["user-agent"]?.replace(/ m\/\S+/, ""),
  }));
  expect(headers).toEqual(original);
});

test.each(["AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"])("without %s, the error names it", async (name) => {
  vi.stubEnv(name, undefined);
  await expect(createClient().send(getItem())).rejects.toThrow(name);
  expect(received).toEqual([]);
});

test("the date of a Retry-After is waited for, as with the whole SDK", async () => {
  // In seconds: between two and three away. Without it, the SDK waits 50 ms at most.
  const date = new Date(Date.now() + 3000).toUTCString();
  responses = { statuses: [503, 503], headers: { "retry-after": date }, body: {} };
  const sent = await Promise.all([sdk, wholeSdk].map((some) => createClient(some, 2).send(getItem())));
  for (const { $metadata } of sent) expect($metadata.totalRetryDelay).toBeGreaterThan(100);
});

test("a parameter is read with its time, as with the whole SDK", async () => {
  vi.stubEnv("AWS_ENDPOINT_URL_SSM", process.env.AWS_ENDPOINT_URL_DYNAMODB);
  responses.body = { Parameter: { Name: "key", Value: "ключ", LastModifiedDate: 1783711145.1236 } };
  for (const { SSMClient, GetParameterCommand } of [sdk, wholeSdk]) {
    const client = new SSMClient();
    onTestFinished(() => client.destroy());
    const { Parameter } = await client.send(new GetParameterCommand({ Name: "key" }));
    expect(Parameter).toEqual({
      ...{ Name: "key", Value: "ключ", LastModifiedDate: new Date("2026-07-10T19:19:05.124Z") },
    });
  }
});

test("no request asks for endpoints, also when a variable says so", async () => {
  vi.stubEnv("AWS_ENABLE_ENDPOINT_DISCOVERY", "true");
  await createClient().send(getItem());
  expect(received.map(({ headers }) => headers["x-amz-target"])).toEqual(["DynamoDB_20120810.GetItem"]);
});
