import { once } from "node:events";
import { createServer, request as httpRequest, type IncomingMessage, type ServerResponse } from "node:http";
import { buffer } from "node:stream/consumers";
import { listening } from "./listening.ts";

/** A way to fail a call; the response contains `text` wherever possible. `tables` are those of a batch. */
type Fault = (response: ServerResponse, text: string, tables: readonly string[]) => void;

const sendJson = (response: ServerResponse, status: number, body: object) => {
  response.writeHead(status, {
    "content-type": "application/x-amz-json-1.0",
    "x-amzn-requestid": "AWS-REQUEST",
  });
  response.end(JSON.stringify(body));
};

const createItem = (S: string) =>
  Object.fromEntries(
    ["pk", "sk", "id", "status", "source", "validUntil", "entries"].map((name) => [name, { S }]),
  );

const exception =
  (type: string, status = 400): Fault =>
  (response, text) =>
    sendJson(response, status, {
      __type: `com.amazonaws.dynamodb.v20120810#${type}`,
      message: text,
      Message: text,
      Item: createItem(text),
      CancellationReasons: [{ Code: "ValidationError", Message: text, Item: createItem(text) }],
    });

/** The faults of a table's calls, each with more of the data than AWS would ever quote. */
export const faults = {
  ValidationException: exception("ValidationException"),
  AccessDeniedException: exception("AccessDeniedException"),
  ResourceNotFoundException: exception("ResourceNotFoundException"),
  ThrottlingException: exception("ThrottlingException"),
  TransactionCanceledException: exception("TransactionCanceledException"),
  InternalServerError: exception("InternalServerError", 500),
  "no JSON": (response, text) => void response.writeHead(200).end(`${text} is no JSON`),
  "no JSON in an error": (response, text) => void response.writeHead(400).end(`${text} is no JSON`),
  "items of no sense": (response, text, tables) =>
    sendJson(response, 200, {
      Item: createItem(text),
      Items: [createItem(text)],
      Count: text,
      Responses: Object.fromEntries(tables.map((table) => [table, [createItem(text)]])),
    }),
  "a lost connection": (response) => response.destroy(),
  "no answer": () => {},
} satisfies Record<string, Fault>;

export type FaultName = keyof typeof faults;

/** A proxy of an engine that fails calls of tables on demand. */
export interface HostileEngine {
  readonly endpoint: string;
  /** Sets how calls fail from now on; undefined for not at all. Calls for whose body `passes` is true never fail. */
  fail(fault: FaultName | undefined, text?: string, passes?: (body: string) => boolean): void;
  stop(): void;
}

/** Starts a hostile proxy of an engine. */
export async function startHostileEngine(engine: string): Promise<HostileEngine> {
  let failing: { fault: Fault; text: string; passes: (body: string) => boolean } | undefined;
  const server = createServer(async (request, response) => {
    const body = await buffer(request);
    const isTableCall = String(request.headers["x-amz-target"]).startsWith("DynamoDB_");
    if (!failing || !isTableCall || failing.passes(body.toString()))
      return forward(engine, request, body, response);
    const { RequestItems = {} } = JSON.parse(body.toString()) as { RequestItems?: object };
    failing.fault(response, `${failing.text} ${body}`, Object.keys(RequestItems));
  });
  return {
    endpoint: await listening(server),
    fail(fault, text = "", passes = () => false) {
      failing = fault && { fault: faults[fault], text, passes };
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
  const [reply] = (await once(upstream, "response")) as [IncomingMessage];
  response.writeHead(reply.statusCode ?? 500, reply.headers);
  response.end(await buffer(reply));
}
