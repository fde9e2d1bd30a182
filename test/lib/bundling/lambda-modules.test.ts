import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { createServer, type IncomingHttpHeaders, type Server } from "node:http";
import { createRequire } from "node:module";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import * as dynamodb from "@aws-sdk/client-dynamodb";
import * as ssm from "@aws-sdk/client-ssm";
import { RegionInfo } from "aws-cdk-lib/region-info";
import { afterAll, beforeAll, beforeEach, expect, onTestFinished, test, vi } from "vitest";
import { bundle } from "../../../lib/bundling/bundle.ts";

let directory: string;
type Sdk = typeof import("./sdk.ts");
let sdk: Sdk;
/** The same without replaced modules. */
let wholeSdk: Sdk;
let server: Server;
/** The statuses of the next responses, which are 200 after them. */
let statuses: number[];
/** The time of the `Retry-After` of responses that are not 200, in milliseconds from the response. */
let retryAfter: number | undefined;
/** The body of each response. */
let responseBody: object;
/** Whether the connection ends in the middle of the body. */
let breaksOff: boolean;
let received: { readonly headers: IncomingHttpHeaders; readonly body: string }[];

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), "lambda-modules-"));
  const load = async (name: string, ...plugins: Parameters<typeof bundle>[2][]): Promise<Sdk> => {
    const outfile = join(directory, `${name}.cjs`);
    await bundle(join(import.meta.dirname, "sdk.ts"), outfile, ...plugins);
    return createRequire(import.meta.url)(outfile);
  };
  [sdk, wholeSdk] = await Promise.all([load("sdk"), load("whole-sdk", [])]);
  server = createServer(async (request, response) => {
    received.push({ headers: request.headers, body: await text(request) });
    response.statusCode = statuses.shift() ?? 200;
    if (retryAfter && response.statusCode !== 200)
      response.setHeader("retry-after", new Date(Date.now() + retryAfter).toUTCString());
    response.setHeader("content-type", "application/x-amz-json-1.0");
    const bytes = Buffer.from(JSON.stringify(responseBody));
    response.setHeader("content-length", bytes.length);
    // In two parts, with enough time between them that each is a chunk of its own.
    response.write(bytes.subarray(0, 1), () =>
      setTimeout(() => (breaksOff ? request.socket.destroy() : response.end(bytes.subarray(1))), 5),
    );
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
  breaksOff = false;
  for (const name of Object.keys(process.env)) if (name.startsWith("AWS_")) vi.stubEnv(name, undefined);
  vi.stubEnv("AWS_REGION", "eu-west-3");
  vi.stubEnv("AWS_ACCESS_KEY_ID", "AKIDFIRST");
  vi.stubEnv("AWS_SECRET_ACCESS_KEY", "secret");
  vi.stubEnv("AWS_SESSION_TOKEN", "token-1");
  vi.stubEnv("AWS_ENDPOINT_URL_DYNAMODB", `http://127.0.0.1:${(server.address() as AddressInfo).port}`);
  return () => vi.unstubAllEnvs();
});

function createClient(maxAttempts = 1, { DynamoDBClient } = sdk) {
  const client = new DynamoDBClient({ maxAttempts });
  onTestFinished(() => client.destroy());
  return client;
}

const getItem = () => new sdk.GetItemCommand({ TableName: "table", Key: { pk: { S: "a" } } });

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
  for (const some of [sdk, wholeSdk]) await createClient(1, some).send(getItem());
  const [headers, original] = received.map(({ headers: { authorization, ...others } }) => ({
    ...others,
    "amz-sdk-invocation-id": others["amz-sdk-invocation-id"]?.length,
    "x-amz-date": others["x-amz-date"]?.length,
    "user-agent": others["user-agent"]?.replace(/ m\/\S+/, "").toLowerCase(),
  }));
  expect(headers?.["user-agent"]).toMatch(
    /^aws-sdk-js\/\S+ ua\/\S+ os\/.* exec-env\/aws_lambda_nodejs24\.x$/,
  );
  const onlyOriginal = { "x-amz-user-agent": expect.any(String), "x-amzn-trace-id": "Root=1-2-3" };
  expect(original).toEqual({ ...headers, ...onlyOriginal });
});

test("the endpoint is found once for a client, and each call goes to it", async () => {
  const client = createClient();
  const find = vi.spyOn(client.config, "endpointProvider");
  for (let i = 0; i < 3; i++) await client.send(getItem());
  expect(received).toHaveLength(3);
  expect(find).toHaveBeenCalledTimes(1);
  vi.stubEnv("AWS_REGION", "eu-west-1");
  vi.stubEnv("AWS_ENDPOINT_URL_DYNAMODB", undefined);
  const other = createClient();
  const findOther = vi.spyOn(other.config, "endpointProvider").mockImplementation(() => {
    throw new Error("not the other client's endpoint");
  });
  await expect(other.send(getItem())).rejects.toThrow("not the other client's endpoint");
  expect(findOther).toHaveBeenCalledTimes(1);
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

test("a client without a logger logs nothing, neither of a success nor of an error", async () => {
  const logs = (["debug", "info", "warn", "error"] as const).map((level) => vi.spyOn(console, level));
  onTestFinished(() => void vi.restoreAllMocks());
  const client = createClient();
  statuses = [200, 500];
  await client.send(getItem());
  await expect(client.send(getItem())).rejects.toThrow();
  for (const log of logs) expect(log).not.toHaveBeenCalled();
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

/** The names of the errors that a client has classes for, and one that it does not know. */
const errorNames = (client: object, base: abstract new (...args: never) => Error) => [
  ...Object.values(client).flatMap((value) =>
    typeof value === "function" && value.prototype instanceof base ? [value.name] : [],
  ),
  "NewException",
];

const errorFields = [
  ...["name", "message", "$fault", "$retryable", "Item"],
  ...["CancellationReasons", "ThrottlingReasons", "throttlingReasons"],
];

test.each([
  {
    service: "DynamoDB",
    names: errorNames(dynamodb, dynamodb.DynamoDBServiceException),
    count: 35,
    createRequest(some: Sdk) {
      const client = createClient(1, some);
      return () => client.send(getItem());
    },
  },
  {
    service: "the Parameter Store",
    names: errorNames(ssm, ssm.SSMServiceException),
    count: 140,
    createRequest({ SSMClient, GetParameterCommand }: Sdk) {
      const client = new SSMClient({ maxAttempts: 1 });
      onTestFinished(() => client.destroy());
      return () => client.send(new GetParameterCommand({ Name: "key" }));
    },
  },
])("errors of $service are as with the whole SDK", async ({ names, count, createRequest }) => {
  vi.stubEnv("AWS_ENDPOINT_URL_SSM", process.env.AWS_ENDPOINT_URL_DYNAMODB);
  expect(names.length).toBeGreaterThan(count);
  const clients = [sdk, wholeSdk].map((some) => ({ some, request: createRequest(some) }));
  for (const name of names) {
    const reasons = [{ reason: "TableReadKeyRangeThroughputExceeded" }];
    responseBody = {
      ...{ __type: `com.amazonaws.service#${name}`, message: "too much", Item: { pk: { S: "a" } } },
      ...{ CancellationReasons: [{ Code: "None" }, { Code: "A", Item: { pk: { S: "a" } } }] },
      ...{ ThrottlingReasons: reasons, throttlingReasons: reasons },
    };
    const status = name === "InternalServerError" ? 500 : 400;
    statuses = [status, status];
    const [error, original] = await Promise.all(
      clients.map(({ some, request }) =>
        request().catch((error) => ({
          ...Object.fromEntries(errorFields.map((field) => [field, error[field]])),
          ...{ status: error.$metadata.httpStatusCode, isError: error instanceof Error },
          isCancellation: error instanceof some.TransactionCanceledException,
        })),
      ),
    );
    expect(error).toMatchObject({ name, message: "too much", status, isError: true });
    expect(error).toEqual(original);
  }
});

test("a response that ends too early is an error of the connection", async () => {
  breaksOff = true;
  for (const some of [sdk, wholeSdk])
    await expect(createClient(1, some).send(getItem())).rejects.toMatchObject({ code: "ECONNRESET" });
});

test("what was removed says so when it is used", async () => {
  vi.stubEnv("AWS_RETRY_MODE", "adaptive");
  await expect(createClient().send(getItem())).rejects.toThrow("lambda-modules.ts");
});

test.each([
  [1, false],
  [2, true],
])("with at most %i attempts, a request whose first response is 500 succeeds: %s", async (maxAttempts, succeeds) => {
  statuses = [500];
  const request = createClient(maxAttempts).send(getItem());
  await (succeeds
    ? expect(request).resolves.toMatchObject({ $metadata: { httpStatusCode: 200, attempts: 2 } })
    : expect(request).rejects.toMatchObject({ $metadata: { httpStatusCode: 500 } }));
  expect(received).toHaveLength(maxAttempts);
});

test("the date of a Retry-After is waited for", async () => {
  // The date is in seconds, so it is between one and two seconds away. Without it, the SDK waits 50 ms at most.
  retryAfter = 2000;
  statuses = [503, 503];
  const waits = await Promise.all(
    [sdk, wholeSdk].map(
      async (some) => (await createClient(2, some).send(getItem())).$metadata.totalRetryDelay,
    ),
  );
  for (const wait of waits) expect(wait).toBeGreaterThan(500);
});
