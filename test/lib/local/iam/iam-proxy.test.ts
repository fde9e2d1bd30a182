import { createServer, type IncomingMessage } from "node:http";
import { buffer } from "node:stream/consumers";
import { DynamoDBClient, GetItemCommand } from "@aws-sdk/client-dynamodb";
import { expect, onTestFinished, test, vi } from "vitest";
import { createFaults, type Faults, type InjectedFault } from "../../../../lib/local/iam/faults.ts";
import { startIamProxy } from "../../../../lib/local/iam/iam-proxy.ts";
import { listen } from "../../../../lib/local/listen.ts";
import { readStatements } from "../../../../lib/local/template/statements.ts";
import { expectLocalOnly } from "../support/linux.ts";
import { createFunction } from "../support/stack.ts";

const TableName = "probes";
const key = (S: string) => ({ pk: { S } });

/** An engine that responds to every request with an item, and behind the proxy a client that may get leads. */
async function start(faults: Faults = createFaults([])) {
  const Statement = {
    ...{ Effect: "Allow", Action: "dynamodb:GetItem" },
    Resource: "arn:aws:dynamodb:local:000000000000:table/probes",
    Condition: { "ForAllValues:StringLike": { "dynamodb:LeadingKeys": "LEAD#*" } },
  };
  const role = {
    name: "ProbeRole",
    statements: readStatements({ PolicyDocument: { Statement: [Statement] } }),
  };
  const received: { request: IncomingMessage; body: string }[] = [];
  const server = createServer(async (request, response) => {
    received.push({ request, body: String(await buffer(request)) });
    response.setHeader("x-amz-crc32", "3633387929");
    response.end('{"Item":{"pk":{"S":"LEAD#a"}}}');
  });
  const engine = await listen(server);
  const log: string[] = [];
  const accessKeyId = "LOCALPROBE";
  const proxy = await startIamProxy({
    callers: new Map([[accessKeyId, await createFunction("", { role })]]),
    endpoint: engine.url,
    headers: { authorization: "Credential=engine/" },
    findPartitionKey: () => "pk",
    operations: {},
    faults,
    log: (line) => log.push(line),
  });
  const client = new DynamoDBClient({
    ...{ endpoint: proxy.url, region: "local", maxAttempts: 1 },
    credentials: { accessKeyId, secretAccessKey: "x" },
  });
  onTestFinished(() => {
    client.destroy();
    proxy.close();
    engine.close();
  });
  return { client, received, log, proxy };
}

test("an allowed request reaches the engine unchanged, with the engine's credentials and no other headers", async () => {
  const { client, received } = await start();
  const { Item } = await client.send(new GetItemCommand({ TableName, Key: key("LEAD#a") }));
  expect(Item).toEqual(key("LEAD#a"));
  const [{ request, body } = { request: undefined, body: "" }] = received;
  expect(JSON.parse(body)).toEqual({ TableName, Key: key("LEAD#a") });
  expect(request?.headers["x-amz-target"]).toBe("DynamoDB_20120810.GetItem");
  expect(request?.headers.authorization).toBe("Credential=engine/");
  const headers = Object.keys(request?.headers ?? {}).sort();
  expect(headers).toEqual([
    "authorization",
    "connection",
    "content-length",
    "content-type",
    "host",
    "x-amz-target",
  ]);
});

test("a denied request gets AWS's error, and does not reach the engine", async () => {
  const { client, received } = await start();
  const refused = client.send(new GetItemCommand({ TableName, Key: key("KEY#a") }));
  await expect(refused).rejects.toMatchObject({
    name: "AccessDeniedException",
    message:
      "User: arn:aws:sts::000000000000:assumed-role/ProbeRole/Probe is not authorized to perform: dynamodb:GetItem on resource: arn:aws:dynamodb:local:000000000000:table/probes because no identity-based policy allows the dynamodb:GetItem action (the role lacks dynamodb:LeadingKeys KEY#…)",
  });
  expect(received).toEqual([]);
});

test.each<[InjectedFault, string | undefined, number, number]>([
  ["throttle", "ThrottlingException", 0, 0],
  ["late", undefined, 1, 190],
  ["drop", "ECONNRESET", 1, 0],
])("a call with the fault %s ends with %s, reaches the engine %i times and takes %i ms at least", async (...row) => {
  const [fault, code, calls, least] = row;
  // A fifth of the calls get a fault, so this call gets one, with a tenth of the longest delay.
  vi.spyOn(Math, "random").mockReturnValue(0.1);
  const { client, received, log } = await start(createFaults([fault]));
  const sentAt = performance.now();
  const outcome = await client.send(new GetItemCommand({ TableName, Key: key("LEAD#a") })).then(
    () => undefined,
    (error) => error.code ?? error.name,
  );
  expect([outcome, received.length]).toEqual([code, calls]);
  expect(performance.now() - sentAt).toBeGreaterThanOrEqual(least);
  // The call belongs to no request. Otherwise the fault would be in the log line of the request.
  expect(log).toEqual([`[probe] fault: ${fault} GetItem`]);
});

test.each([
  ["of an unknown caller", {}, "UnrecognizedClientException", /token is invalid/],
  [
    "that the local run does not imitate",
    { authorization: "Credential=LOCALPROBE/", "x-amz-target": "AmazonSSM.GetParameters" },
    "UnknownOperationException",
    /does not imitate AmazonSSM\.GetParameters/,
  ],
  [
    "of a service without JSON",
    { authorization: "Credential=LOCALPROBE/" },
    "UnknownOperationException",
    /PUT \//,
  ],
])("a call %s is rejected, and other machines cannot connect", async (_, headers, type, message) => {
  const { proxy, received } = await start();
  await expectLocalOnly(proxy.url);
  const response = await fetch(proxy.url, { method: "PUT", body: "{}", headers });
  expect(response.status).toBe(400);
  expect(await response.json()).toEqual({
    __type: `com.amazon.coral.service#${type}`,
    Message: expect.stringMatching(message),
  });
  expect(received).toEqual([]);
});
