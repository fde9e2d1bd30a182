import { createServer, type IncomingHttpHeaders, type Server } from "node:http";
import { createRequire } from "node:module";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { afterAll, beforeAll, beforeEach, expect, onTestFinished, test, vi } from "vitest";
import { replacedModules } from "../../../lib/bundling/bundle.ts";
import { bundle } from "../../support/stack/bundle.ts";
import { createDirectory } from "../../support/stack/synthesize.ts";

const directory = await createDirectory();
type Sdk = typeof import("./sdk.ts");
let sdk: Sdk;
/** The same without replaced modules. */
let wholeSdk: Sdk;
/** The paths of the modules in the bundle, from the root of the repository. */
let inputs: readonly string[];
let server: Server;
let received: { readonly headers: IncomingHttpHeaders; readonly body: string }[];

beforeAll(async () => {
  const entry = join(import.meta.dirname, "sdk.ts");
  const outfile = join(directory, "sdk.cjs");
  const wholeOutfile = join(directory, "whole-sdk.cjs");
  const [metafile] = await Promise.all([bundle(entry, outfile), bundle(entry, wholeOutfile, true)]);
  inputs = Object.keys(metafile.inputs);
  const load = createRequire(import.meta.url);
  sdk = load(outfile);
  wholeSdk = load(wholeOutfile);
  server = createServer(async (request, response) => {
    received.push({ headers: request.headers, body: await text(request) });
    response.writeHead(200, { "content-type": "application/x-amz-json-1.0" }).end("{}");
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
});
afterAll(() => void server.close());
beforeEach(() => {
  received = [];
  for (const name of Object.keys(process.env)) if (name.startsWith("AWS_")) vi.stubEnv(name, undefined);
  vi.stubEnv("AWS_REGION", "eu-west-3");
  vi.stubEnv("AWS_ACCESS_KEY_ID", "AKIDFIRST");
  vi.stubEnv("AWS_SECRET_ACCESS_KEY", "secret");
  vi.stubEnv("AWS_SESSION_TOKEN", "token-1");
  vi.stubEnv("AWS_ENDPOINT_URL_DYNAMODB", `http://127.0.0.1:${(server.address() as AddressInfo).port}`);
  return () => vi.unstubAllEnvs();
});

function createClient({ DynamoDBClient } = sdk) {
  const client = new DynamoDBClient({ maxAttempts: 1 });
  onTestFinished(() => client.destroy());
  return client;
}

const getItem = () => new sdk.GetItemCommand({ TableName: "table", Key: { pk: { S: "a" } } });

// A build fails if the SDK imports what a replacement does not export.
test.each(Object.values(replacedModules))("%s replaces what the SDK imports", (file) => {
  expect(inputs).toContain(join(file));
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
