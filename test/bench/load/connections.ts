import { once } from "node:events";
import { Agent, type IncomingHttpHeaders, type IncomingMessage, request } from "node:http";
import { json } from "node:stream/consumers";

/** A request as an account sends it. */
export interface ApiRequest {
  readonly method: "GET" | "POST";
  /** Includes the query. */
  readonly path: string;
  readonly apiKey: string;
  readonly body?: object;
  readonly idempotencyKey?: string;
}

export interface ApiResponse {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly body: unknown;
}

/** Connections to the service that stay open between requests. */
export type Connections = ReturnType<typeof openConnections>;

/** Longer than the 30 s within which the gateway responds, in milliseconds. */
const timeout = 35_000;

/** Opens up to `count` connections, each when it is first needed. */
export function openConnections(url: string, count: number) {
  const agent = new Agent({ keepAlive: true, maxSockets: count });
  return {
    /** Sends a request on a free connection, or waits for one. */
    async send({ method, path, apiKey, body, idempotencyKey }: ApiRequest): Promise<ApiResponse> {
      const headers = {
        authorization: `Bearer ${apiKey}`,
        ...(body && { "content-type": "application/json" }),
        ...(idempotencyKey && { "idempotency-key": idempotencyKey }),
      };
      const sent = request(`${url}${path}`, { agent, method, headers });
      sent.setTimeout(timeout, () => sent.destroy(new Error("no response in time")));
      sent.end(body && JSON.stringify(body));
      const [response]: [IncomingMessage] = (await once(sent, "response")) as never;
      return { status: response.statusCode ?? 0, headers: response.headers, body: await json(response) };
    },
    close: () => agent.destroy(),
  };
}
