import { randomBytes } from "node:crypto";
import { createServer } from "node:http";
import { errorMessage, UserError } from "../../user-error.ts";
import { listen } from "../listen.ts";
import type { ApiDefinition } from "../template/api-routes.ts";
import type { Invoke } from "../template/functions.ts";
import { createRequestHandler, gatewayResponse, type Outcome, type WebPages } from "./request-routing.ts";

/** The gateway's limit for the request line and all headers, in bytes. */
const maxHeaderBytes = 10_240;

interface GatewayOptions {
  /** 0 for any free port. */
  readonly port: number;
  readonly invoke: Invoke;
  readonly webPages?: WebPages | undefined;
  /** The injected faults that a request met, for its log line. */
  readonly faultsOf: (requestId: string) => readonly string[];
  readonly log: (line: string) => void;
}

/** Serves an API on 127.0.0.1 as an HTTP API of API Gateway does. @throws UserError when the port cannot be used */
export function startGateway(api: ApiDefinition, { port, invoke, webPages, faultsOf, log }: GatewayOptions) {
  const handle = createRequestHandler(api, invoke, webPages);
  // Node.js itself responds to malformed HTTP, with no body.
  const server = createServer({ maxHeaderSize: maxHeaderBytes }, async (request, response) => {
    const started = performance.now();
    // In the gateway's format.
    const requestId = randomBytes(11).toString("base64");
    const outcome = await handle(request, requestId).catch(
      (error: unknown): Outcome => ({ response: gatewayResponse(500), reason: errorMessage(error) }),
    );
    const body = await outcome.response.bytes();
    response.setHeaders(outcome.response.headers);
    response.writeHead(outcome.response.status, {
      "apigw-requestid": requestId,
      "content-length": body.length,
    });
    response.end(body);
    const milliseconds = Math.round(performance.now() - started);
    // The query may contain personal data, so it is omitted, as in the access log of the deployed API.
    const [path] = String(request.url).split("?");
    const { account = "-", reason } = outcome;
    const notes = [reason && ` (${reason})`, ...faultsOf(requestId).map((fault) => ` [${fault}]`)].join("");
    log(
      `${request.method} ${path} ${response.statusCode} ${milliseconds} ms ${account} ${requestId}${notes}`,
    );
  });
  // API Gateway ignores the `Expect` header; Node.js itself would respond with 417 and no body.
  server.on("checkExpectation", (request, response) => server.emit("request", request, response));
  return listen(server, port).catch((error: unknown) => {
    throw new UserError(`The port ${port} cannot be used (${errorMessage(error)}): set PORT to another one.`);
  });
}
