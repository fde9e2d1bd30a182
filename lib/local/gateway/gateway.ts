import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { errorCode, errorMessage, UserError } from "../../errors.ts";
import type { Api } from "../template/api-definition.ts";
import { gatewayResponse, type HttpResponse } from "./http-response.ts";
import { rejectMalformedHttp } from "./malformed-http.ts";
import { newRequestId } from "./request-event.ts";
import { createService, type Invoke, type Outcome } from "./request-handler.ts";

/** The gateway's limit of the request line and all headers, in bytes. */
const largestHeaders = 10_240;

/** How long requests that are being served may take to end when the gateway stops, in milliseconds. */
const drainLimit = 5000;

/** Answers requests for what is not of the API; undefined when the API is asked. */
export type Pages = (request: IncomingMessage) => Promise<HttpResponse | undefined>;

interface GatewayOptions {
  /** 0 for any free one. */
  readonly port: number;
  readonly invoke: Invoke;
  readonly pages?: Pages | undefined;
  readonly log: (line: string) => void;
}

/** The API on this machine. */
export interface Gateway {
  readonly url: string;
  /** Takes no more requests, ends those it has, and closes. */
  stop(): Promise<void>;
}

/** Serves an API on 127.0.0.1 as an HTTP API of API Gateway does. */
export async function startGateway(api: Api, { port, invoke, pages, log }: GatewayOptions): Promise<Gateway> {
  const service = createService(api, invoke);
  const serve = async (request: IncomingMessage, requestId: string): Promise<Outcome> => {
    const page = await pages?.(request);
    return page ? { response: page } : service(request, requestId);
  };
  // Node's own answer to a request without a host has no body.
  const options = { maxHeaderSize: largestHeaders, requireHostHeader: false };
  const server = createServer(options, async (request, response) => {
    const started = performance.now();
    const requestId = newRequestId();
    const outcome = await serve(request, requestId).catch((error: unknown): Outcome => {
      if (!request.errored) log(`The gateway failed: ${errorMessage(error)}`);
      return { response: gatewayResponse(500) };
    });
    // A connection that is kept open would hold up the end.
    if (!server.listening) response.setHeader("connection", "close");
    send(response, outcome.response, requestId);
    const took = Math.round(performance.now() - started);
    log(logLine(request, outcome, `${took} ms`, requestId));
  });
  rejectMalformedHttp(server);
  // What a client expects changes nothing here; Node alone would answer 417 without a body.
  server.on("checkExpectation", (request, response) => server.emit("request", request, response));
  await listen(server, port);
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    async stop() {
      const closed = once(server, "close");
      server.close();
      const timer = setTimeout(() => server.closeAllConnections(), drainLimit);
      await closed;
      clearTimeout(timer);
    },
  };
}

/** Takes the port, or says that somebody else has it. */
export async function listen(server: ReturnType<typeof createServer>, port: number): Promise<void> {
  server.listen(port, "127.0.0.1");
  try {
    await once(server, "listening");
  } catch (error) {
    if (errorCode(error) === "EADDRINUSE") {
      throw new UserError(`The port ${port} is in use: stop what uses it, or set PORT to another one.`);
    }
    throw new UserError(`The port ${port} cannot be used (${errorMessage(error)}): set PORT to another one.`);
  }
}

/** The query may hold personal data: it is left out, as in the access log of the deployed API. */
function logLine(
  request: IncomingMessage,
  { response: answer, account = "-" }: Outcome,
  took: string,
  requestId: string,
) {
  const [path] = String(request.url).split("?");
  const status = request.errored ? "the client went away" : answer.status;
  return `${request.method} ${path} ${status} ${took} ${account} ${requestId}`;
}

function send(response: ServerResponse, { status, headers, body }: HttpResponse, requestId: string): void {
  for (const [name, value] of Object.entries(headers)) response.setHeader(name, value);
  response.setHeader("apigw-requestid", requestId);
  response.setHeader("content-length", Buffer.byteLength(body));
  response.statusCode = status;
  response.end(body);
}
