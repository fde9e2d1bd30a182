import { createServer, type IncomingMessage } from "node:http";
import { join } from "node:path";
import { buffer } from "node:stream/consumers";
import { DynamoDBClient, GetItemCommand } from "@aws-sdk/client-dynamodb";
import { EventBridgeClient, PutEventsCommand } from "@aws-sdk/client-eventbridge";
import { SendMessageCommand, SQSClient } from "@aws-sdk/client-sqs";
import { expect, onTestFinished, test, vi } from "vitest";
import { createFaults, type Faults, type InjectedFault } from "../../../../lib/local/iam/faults.ts";
import { startIamProxy } from "../../../../lib/local/iam/iam-proxy.ts";
import { openLocalQueues } from "../../../../lib/local/streams/local-queues.ts";
import { readStatements, type Statement } from "../../../../lib/local/template/statements.ts";
import { listening } from "../../../support/requests/listening.ts";
import { temporaryDirectory } from "../../../support/stack/temporary-directory.ts";
import { expectLocalOnly } from "../support/linux.ts";
import { createFunction } from "../support/stack.ts";

const TableName = "probes";
const key = (S: string) => ({ pk: { S } });
const read = (Action: string, Resource: string, Condition?: object) =>
  readStatements({ PolicyDocument: { Statement: { Effect: "Allow", Action, Resource, Condition } } });
const allow = (action: string, pattern: string) =>
  read(`dynamodb:${action}`, "arn:aws:dynamodb:local:000000000000:table/probes", {
    "ForAllValues:StringLike": { "dynamodb:LeadingKeys": pattern },
  });

/** An engine that responds to every request with an item, and a client with a role behind the proxy. */
async function start(statements: Statement[], faults: Faults = createFaults([])) {
  const received: { request: IncomingMessage; body: string }[] = [];
  const engine = createServer(async (request, response) => {
    received.push({ request, body: String(await buffer(request)) });
    response.setHeader("x-amz-crc32", "3633387929");
    response.end('{"Item":{"pk":{"S":"LEAD#a"}}}');
  });
  const endpoint = await listening(engine);
  const log: string[] = [];
  const role = { name: "ProbeRole", statements };
  const accessKeyId = "LOCALPROBE";
  const proxy = await startIamProxy({
    callers: new Map([[accessKeyId, await createFunction("", { role })]]),
    endpoint,
    headers: { authorization: "Credential=engine/" },
    findPartitionKey: () => "pk",
    operations: {
      PutEvents: async ({ Entries }: { Entries: object[] }) => ({
        Entries: Entries.map(() => ({ EventId: "1" })),
      }),
      ...openLocalQueues([], {
        file: join(await temporaryDirectory(), "queue.json"),
        ...{ invoke: async () => undefined, log: (line) => log.push(line) },
        signal: new AbortController().signal,
      }),
    },
    faults,
    verbose: true,
    log: (line) => log.push(line),
  });
  const options = {
    endpoint: proxy.endpoint,
    region: "local",
    credentials: { accessKeyId, secretAccessKey: "x" },
    maxAttempts: 1,
  };
  const client = new DynamoDBClient(options);
  const [bus, queue] = [new EventBridgeClient(options), new SQSClient(options)];
  onTestFinished(() => {
    for (const each of [client, bus, queue]) each.destroy();
    proxy.close();
    engine.close();
    engine.closeAllConnections();
  });
  return { client, bus, queue, received, log, proxy };
}

test("an allowed request reaches the engine unchanged, with the engine's credentials and no other headers", async () => {
  const { client, received } = await start(allow("GetItem", "LEAD#*"));
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
  const { client, received, log } = await start(allow("GetItem", "LEAD#*"));
  const refused = client.send(new GetItemCommand({ TableName, Key: key("KEY#a") }));
  await expect(refused).rejects.toMatchObject({
    name: "AccessDeniedException",
    message:
      "User: arn:aws:sts::000000000000:assumed-role/ProbeRole/Probe is not authorized to perform: dynamodb:GetItem on resource: arn:aws:dynamodb:local:000000000000:table/probes because no identity-based policy allows the dynamodb:GetItem action (the role lacks dynamodb:LeadingKeys KEY#…)",
  });
  expect(received).toEqual([]);
  expect(log).toEqual([expect.stringMatching(/^\[probe\] AccessDeniedException: /)]);
});

const denied = (action: string, resource: string) => ({
  name: "AccessDeniedException",
  message: expect.stringContaining(`perform: ${action} on resource: ${resource} because`),
});

test("events reach the bus that the role allows, and a call with another bus is denied", async () => {
  const busArn = "arn:aws:events:local:000000000000:event-bus/probes";
  const { bus, received } = await start(read("events:PutEvents", busArn));
  const put = (...names: string[]) =>
    bus.send(
      new PutEventsCommand({ Entries: names.map((EventBusName) => ({ EventBusName, Detail: "{}" })) }),
    );
  expect(await put("probes", "probes")).toMatchObject({ Entries: [{ EventId: "1" }, { EventId: "1" }] });
  await expect(put("probes", "others")).rejects.toMatchObject(
    denied("events:PutEvents", busArn.replace("probes", "others")),
  );
  expect(received).toEqual([]);
});

test("messages reach the queue that the role allows, and are logged", async () => {
  const { queue, log } = await start(read("sqs:SendMessage", "arn:aws:sqs:local:000000000000:Failures"));
  const send = (QueueUrl: string) => queue.send(new SendMessageCommand({ QueueUrl, MessageBody: "a body" }));
  await send("Failures");
  expect(log).toEqual(["[Failures] a body"]);
  await expect(send("Others")).rejects.toMatchObject(
    denied("sqs:SendMessage", "arn:aws:sqs:local:000000000000:Others"),
  );
});

test.each<[InjectedFault, string | undefined, number, number]>([
  ["throttle", "ThrottlingException", 0, 0],
  ["late", undefined, 1, 190],
  ["drop", "ECONNRESET", 1, 0],
])("a call with the fault %s ends with %s, reaches the engine %i times and takes %i ms at least", async (...row) => {
  const [fault, code, calls, least] = row;
  // A fifth of the calls get a fault, so this call gets one, with a tenth of the longest delay.
  vi.spyOn(Math, "random").mockReturnValue(0.1);
  const { client, received, log } = await start(allow("GetItem", "LEAD#*"), createFaults([fault]));
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

test("an unknown caller is rejected, and other machines cannot connect", async () => {
  const { proxy, received } = await start(allow("*", "*"));
  await expectLocalOnly(proxy.endpoint);
  const response = await fetch(proxy.endpoint, { method: "POST", body: "{}" });
  expect(response.status).toBe(400);
  expect(await response.json()).toMatchObject({
    __type: "com.amazon.coral.service#UnrecognizedClientException",
  });
  expect(received).toEqual([]);
});
