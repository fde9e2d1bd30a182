import { once } from "node:events";
import { createServer, request as httpRequest, type IncomingMessage, type ServerResponse } from "node:http";
import { buffer } from "node:stream/consumers";
import { listening } from "./listening.ts";

/** How an engine may fail a call; `text` is to be in its answer, wherever there is a place for it. */
type Fault = (response: ServerResponse, text: string) => void;

const json = (response: ServerResponse, status: number, answer: object) => {
  response.writeHead(status, {
    "content-type": "application/x-amz-json-1.0",
    "x-amzn-requestid": "AWS-REQUEST",
  });
  response.end(JSON.stringify(answer));
};

const itemOf = (S: string) =>
  Object.fromEntries(
    ["pk", "sk", "id", "status", "source", "validUntil", "entries"].map((name) => [name, { S }]),
  );

const exception =
  (type: string, status = 400): Fault =>
  (response, text) =>
    json(response, status, {
      __type: `com.amazonaws.dynamodb.v20120810#${type}`,
      message: text,
      Message: text,
      Item: itemOf(text),
      CancellationReasons: [{ Code: "ValidationError", Message: text, Item: itemOf(text) }],
    });

/** The ways in which the calls of a table fail, each with as much of the data as AWS could ever quote, and more. */
export const faults = {
  ValidationException: exception("ValidationException"),
  AccessDeniedException: exception("AccessDeniedException"),
  ResourceNotFoundException: exception("ResourceNotFoundException"),
  ThrottlingException: exception("ThrottlingException"),
  TransactionCanceledException: exception("TransactionCanceledException"),
  InternalServerError: exception("InternalServerError", 500),
  "no JSON": (response, text) => void response.writeHead(200).end(`${text} is no JSON`),
  "no JSON in an error": (response, text) => void response.writeHead(400).end(`${text} is no JSON`),
  "items of no sense": (response, text) =>
    json(response, 200, { Item: itemOf(text), Items: [itemOf(text)], Count: text }),
  "a lost connection": (response) => response.destroy(),
  "no answer": () => {},
} satisfies Record<string, Fault>;

export type FaultName = keyof typeof faults;

/** A way to an engine that fails calls of tables when it is told to. */
export interface HostileEngine {
  readonly endpoint: string;
  /** How calls fail from now on; undefined for not at all. `passes` tells by its body which call does not. */
  fail(fault: FaultName | undefined, text?: string, isRetryable?: (body: string) => boolean): void;
  stop(): void;
}

/** Starts one in front of an engine. */
export async function startHostileEngine(engine: string): Promise<HostileEngine> {
  let failing: { fault: Fault; text: string; isRetryable: (body: string) => boolean } | undefined;
  const server = createServer(async (request, response) => {
    const body = await buffer(request);
    const ofTable = String(request.headers["x-amz-target"]).startsWith("DynamoDB_");
    if (!failing || !ofTable || failing.isRetryable(body.toString()))
      return forward(engine, request, body, response);
    failing.fault(response, `${failing.text} ${body}`);
  });
  return {
    endpoint: await listening(server),
    fail(fault, text = "", isRetryable = () => false) {
      failing = fault && { fault: faults[fault], text, isRetryable };
    },
    stop() {
      server.close();
      server.closeAllConnections();
    },
  };
}

async function forward(engine: string, request: IncomingMessage, body: Buffer, response: ServerResponse) {
  const upstream = httpRequest(engine, { method: "POST", headers: request.headers });
  upstream.end(body);
  const [answer] = (await once(upstream, "response")) as [IncomingMessage];
  response.writeHead(answer.statusCode ?? 500, answer.headers);
  response.end(await buffer(answer));
}
