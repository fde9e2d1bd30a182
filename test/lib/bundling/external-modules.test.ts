import { once } from "node:events";
import { createServer, type IncomingHttpHeaders } from "node:http";
import { createRequire } from "node:module";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { expect, onTestFinished, test, vi } from "vitest";
import { bundleOptions } from "../../../lib/bundling/bundle.ts";
import { bundle } from "../../support/stack/bundle.ts";
import { createDirectory } from "../../support/stack/synthesize.ts";

// In a directory from which no module of the SDK is found.
const outfile = join(await createDirectory(), "sdk.cjs");
const { inputs } = await bundle(join(import.meta.dirname, "sdk.ts"), outfile);

test("the SDK imports the modules that are not bundled only on demand", () => {
  const imports = Object.values(inputs)
    .flatMap(({ imports }) => imports)
    .filter(({ path, external }) => external && !path.startsWith("node:"));
  expect([...new Set(imports.map(({ path }) => path))].sort()).toEqual(bundleOptions.external);
  expect([...new Set(imports.map(({ kind }) => kind))]).toEqual(["dynamic-import"]);
});

test("without these modules, requests are signed with the credentials and the region of Lambda's variables", async () => {
  const received: IncomingHttpHeaders[] = [];
  const server = createServer(({ headers }, response) => {
    received.push(headers);
    response.writeHead(200, { "content-type": "application/x-amz-json-1.0" }).end("{}");
  }).listen(0, "127.0.0.1");
  onTestFinished(() => void server.close());
  await once(server, "listening");
  for (const name of Object.keys(process.env)) if (name.startsWith("AWS_")) vi.stubEnv(name, undefined);
  onTestFinished(() => void vi.unstubAllEnvs());
  vi.stubEnv("AWS_REGION", "eu-west-3");
  vi.stubEnv("AWS_ACCESS_KEY_ID", "AKIDFIRST");
  vi.stubEnv("AWS_SECRET_ACCESS_KEY", "secret");
  vi.stubEnv("AWS_SESSION_TOKEN", "token-1");
  vi.stubEnv("AWS_ENDPOINT_URL_DYNAMODB", `http://127.0.0.1:${(server.address() as AddressInfo).port}`);
  const { DynamoDBClient, GetItemCommand } = createRequire(import.meta.url)(
    outfile,
  ) as typeof import("./sdk.ts");
  const client = new DynamoDBClient({ maxAttempts: 1 });
  onTestFinished(() => client.destroy());
  await client.send(new GetItemCommand({ TableName: "table", Key: { pk: { S: "a" } } }));
  expect(received).toEqual([
    expect.objectContaining({
      authorization: expect.stringMatching(/Credential=AKIDFIRST\/\d{8}\/eu-west-3\/dynamodb\/aws4_request/),
      "x-amz-security-token": "token-1",
    }),
  ]);
});
