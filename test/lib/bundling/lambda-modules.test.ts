import { mkdtemp, readdir, rm, writeFile } from "node:fs/promises";
import { createServer, type IncomingHttpHeaders, type Server } from "node:http";
import { createRequire } from "node:module";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { RegionInfo } from "aws-cdk-lib/region-info";
import { build } from "esbuild";
import { afterAll, beforeAll, beforeEach, describe, expect, onTestFinished, test, vi } from "vitest";
import { bundle } from "../../../lib/bundling/bundle.ts";
import { lambdaModules, lambdaModulesDirectory } from "../../../lib/bundling/lambda-modules.ts";

let directory: string;
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
  directory = await mkdtemp(join(tmpdir(), "lambda-modules-"));
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
afterAll(async () => {
  server.close();
  await rm(directory, { recursive: true });
});
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

/** The exports of replaced modules that their replacements do without. */
const unneededExports: Readonly<Record<string, readonly string[]>> = {
  "@aws-sdk/credential-provider-node/dist-es/index.js": [
    "credentialsTreatedAsExpired",
    "credentialsWillNeedRefresh",
  ],
  "@aws-sdk/middleware-endpoint-discovery/dist-es/index.js": [
    "endpointDiscoveryMiddlewareOptions",
    "getEndpointDiscoveryOptionalPlugin",
    "getEndpointDiscoveryPlugin",
    "getEndpointDiscoveryRequiredPlugin",
  ],
  "@smithy/core/dist-es/submodules/event-streams/index.js": [
    "EventStreamCodec",
    "EventStreamMarshaller",
    "HeaderMarshaller",
    "Int64",
    "MessageDecoderStream",
    "MessageEncoderStream",
    "SmithyMessageDecoderStream",
    "SmithyMessageEncoderStream",
    "UniversalEventStreamMarshaller",
    "getChunkedStream",
    "getMessageUnmarshaller",
    "getUnmarshalledStream",
    "iterableToReadableStream",
    "readableStreamToIterable",
    "resolveEventStreamSerdeConfig",
    "universalEventStreamSerdeProvider",
  ],
};

const repository = join(import.meta.dirname, "../../..");

/** The names of a module's exports. */
async function exportsOf(path: string): Promise<readonly string[]> {
  const { metafile } = await build({
    ...{ entryPoints: [path], bundle: true, format: "esm", platform: "node", metafile: true, write: false },
    ...{ mainFields: ["module", "main"], absWorkingDir: repository, logLevel: "silent" },
  });
  return Object.values(metafile.outputs).flatMap((output) => output.exports);
}

describe.each(Object.entries(lambdaModules))("%s", (module, replacement) => {
  test("has the exports of its replacement, and others only if they are known to be unneeded", async () => {
    const [original, provided] = await Promise.all([
      exportsOf(join(repository, "node_modules", module)),
      exportsOf(join(lambdaModulesDirectory, replacement)),
    ]);
    expect(original.toSorted()).toEqual([...provided, ...(unneededExports[module] ?? [])].toSorted());
  });

  test("is where the SDK imports it, so that it is replaced", () => {
    expect(inputs).toContain(`node_modules/${module}`);
  });
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

test("a session token is optional", async () => {
  vi.stubEnv("AWS_SESSION_TOKEN", undefined);
  await createClient().send(getItem());
  expect(received).toHaveLength(1);
  expect(received[0]?.headers).not.toHaveProperty("x-amz-security-token");
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
  ["eu-west-3", [], "dynamodb.eu-west-3.amazonaws.com"],
  ["cn-north-1", [], "dynamodb.cn-north-1.amazonaws.com.cn"],
  ["us-east-1", ["FIPS"], "dynamodb-fips.us-east-1.amazonaws.com"],
  ["us-east-1", ["FIPS", "DUALSTACK"], "dynamodb-fips.us-east-1.api.aws"],
])("requests of %s with %j go to %s", async (region, uses, expected) => {
  vi.stubEnv("AWS_ENDPOINT_URL_DYNAMODB", undefined);
  vi.stubEnv("AWS_REGION", region);
  for (const use of uses) vi.stubEnv(`AWS_USE_${use}_ENDPOINT`, "true");
  const client = createClient();
  let host: unknown;
  client.middlewareStack.add(
    () => async (args) => {
      host = (args.request as { hostname: string }).hostname;
      return { response: {}, output: { $metadata: {} } };
    },
    { step: "finalizeRequest", priority: "low" },
  );
  await client.send(getItem());
  expect(host).toBe(expected);
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

test("the settings of a client are the SDK's own", async () => {
  vi.stubEnv("AWS_MAX_ATTEMPTS", "7");
  vi.stubEnv("AWS_RETRY_MODE", "standard");
  const settings = [
    "region",
    "maxAttempts",
    "retryMode",
    "useFipsEndpoint",
    "useDualstackEndpoint",
    "defaultsMode",
  ];
  const read = async ({ DynamoDBClient }: Sdk) => {
    const { config } = new DynamoDBClient();
    return Promise.all(
      settings.map((name) => (config as unknown as Record<string, () => unknown>)[name]?.()),
    );
  };
  expect(await read(sdk)).toEqual(["eu-west-3", 7, "standard", false, false, "legacy"]);
  expect(await read(sdk)).toEqual(await read(wholeSdk));
});

test("tokens that the SDK adds to a request are UUIDs, each different", async () => {
  const client = createClient();
  for (let i = 0; i < 2; i++) await client.send(new sdk.TransactWriteItemsCommand({ TransactItems: [] }));
  const tokens = received.map(({ body }) => JSON.parse(body).ClientRequestToken);
  expect(new Set(tokens).size).toBe(2);
  for (const token of tokens)
    expect(token).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
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
