import { readdir, writeFile } from "node:fs/promises";
import { createServer, type IncomingHttpHeaders, type Server } from "node:http";
import { createRequire } from "node:module";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { RegionInfo } from "aws-cdk-lib/region-info";
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
/** The statuses of the next responses, which are 200 after them. */
let statuses: number[];
/** The time of the `Retry-After` of responses that are not 200, in milliseconds from the response. */
let retryAfter: number | undefined;
/** The body of each response. */
let responseBody: object;
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
    response.statusCode = statuses.shift() ?? 200;
    if (retryAfter && response.statusCode !== 200)
      response.setHeader("retry-after", new Date(Date.now() + retryAfter).toUTCString());
    response.setHeader("content-type", "application/x-amz-json-1.0");
    response.end(JSON.stringify(responseBody));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
});
afterAll(() => void server.close());
beforeEach(() => {
  received = [];
  statuses = [];
  retryAfter = undefined;
  responseBody = {};
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
  expect(files.toSorted()).toEqual([...Object.values(lambdaModules), "endpoints.ts"].toSorted());
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

test("requests have the SDK's own headers, but for its statistics and the trace of loops", async () => {
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
  expect(original).toEqual({ ...headers, "x-amzn-trace-id": "Root=1-2-3" });
});

test.each(["AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"])("without %s, the error names it", async (name) => {
  vi.stubEnv(name, undefined);
  await expect(createClient().send(getItem())).rejects.toThrow(name);
  expect(received).toEqual([]);
});

test("files with settings are not read", async () => {
  const file = join(directory, "config");
  await writeFile(
    file,
    "[default]\nregion = us-gov-east-1\nendpoint_url = http://127.0.0.1:1\nretry_mode = none\n",
  );
  vi.stubEnv("AWS_CONFIG_FILE", file);
  vi.stubEnv("AWS_SHARED_CREDENTIALS_FILE", file);
  const endpoint = process.env.AWS_ENDPOINT_URL_DYNAMODB;
  vi.stubEnv("AWS_ENDPOINT_URL_DYNAMODB", undefined);
  vi.stubEnv("AWS_REGION", undefined);
  await expect(createClient().send(getItem())).rejects.toThrow("Region is missing");
  vi.stubEnv("AWS_REGION", "eu-west-3");
  vi.stubEnv("AWS_ENDPOINT_URL_DYNAMODB", endpoint);
  await createClient().send(getItem());
  expect(received).toHaveLength(1);
});

test.each([
  "DynamoDBClient",
  "SSMClient",
] as const)("the endpoint of a %s is the SDK's own in every region, with FIPS and dual stack, and for a variable", (name) => {
  const [client, original] = [sdk, wholeSdk].map(({ [name]: Client }) => new Client());
  const regions = RegionInfo.regions.map(({ name }) => name);
  const switches = [true, false];
  const parameters = [...regions, "eu-new-7"].flatMap((Region) =>
    switches.flatMap((UseFIPS) => switches.map((UseDualStack) => ({ Region, UseFIPS, UseDualStack }))),
  );
  const local = {
    Region: "eu-west-3",
    UseFIPS: false,
    UseDualStack: false,
    Endpoint: "http://127.0.0.1:8000/x",
  };
  for (const endpoint of [...parameters, local])
    expect(client?.config.endpointProvider(endpoint), JSON.stringify(endpoint)).toEqual({
      ...original?.config.endpointProvider(endpoint),
      headers: {},
    });
  for (const { UseFIPS, UseDualStack } of parameters.slice(0, 3))
    for (const resolver of [client, original])
      expect(() => resolver?.config.endpointProvider({ ...local, UseFIPS, UseDualStack })).toThrow();
});

test("a parameter is read as with the whole SDK, with its time", async () => {
  vi.stubEnv("AWS_ENDPOINT_URL_SSM", process.env.AWS_ENDPOINT_URL_DYNAMODB);
  responseBody = { Parameter: { Name: "key", Value: "ключ", LastModifiedDate: 1783711145.1236 } };
  const [read, original] = await Promise.all(
    [sdk, wholeSdk].map(async ({ SSMClient, GetParameterCommand }) => {
      const client = new SSMClient();
      onTestFinished(() => client.destroy());
      return (await client.send(new GetParameterCommand({ Name: "key" }))).Parameter;
    }),
  );
  expect(received[0]?.headers.authorization).toContain("/eu-west-3/ssm/aws4_request");
  expect(read).toEqual({
    ...{ Name: "key", Value: "ключ", LastModifiedDate: new Date("2026-07-10T19:19:05.124Z") },
  });
  expect(read).toEqual(original);
});

test("the date of a Retry-After is waited for", async () => {
  // The date is in seconds, so it is between one and two seconds away. Without it, the SDK waits 50 ms at most.
  retryAfter = 2000;
  statuses = [503, 503];
  const waits = await Promise.all(
    [sdk, wholeSdk].map(
      async (some) => (await createClient(some, 2).send(getItem())).$metadata.totalRetryDelay,
    ),
  );
  for (const wait of waits) expect(wait).toBeGreaterThan(500);
});
