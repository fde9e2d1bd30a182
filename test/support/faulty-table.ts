import { once } from "node:events";
import { createServer, type IncomingMessage, request } from "node:http";
import { buffer } from "node:stream/consumers";
import { engineHeaders } from "../../lib/local/engine/dynamodb-client.ts";
import { engineEndpoint } from "./engine-endpoint.ts";
import { listening } from "./listening.ts";

/** The response to a table call. */
export interface TableResponse {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Buffer;
}

/** A table call that the proxy holds. */
export interface Exchange {
  /** Such as `TransactWriteItems`. */
  readonly operation: string;
  readonly input: { readonly RequestItems?: object };
  /** Sends the call to the table, and its response to the caller. */
  pass(): Promise<void>;
  reply(response: TableResponse): void;
  /** Closes the connection without a response. */
  drop(): void;
}

/** Starts a proxy to the engine of this worker, which passes all calls on until its `handle` is replaced. */
export async function startFaultyTable() {
  const server = createServer(async (incoming, outgoing) => {
    const body = await buffer(incoming);
    const reply = ({ status, headers, body }: TableResponse) =>
      void outgoing.writeHead(status, { ...headers, "content-length": body.length }).end(body);
    const drop = () => void incoming.socket.destroy();
    const exchange: Exchange = {
      operation: String(incoming.headers["x-amz-target"]).replace(/^.*\./, ""),
      input: JSON.parse(body.toString()),
      pass: async () => reply(await forward(incoming, body)),
      reply,
      drop,
    };
    // When the engine fails, the connection is closed.
    await faulty.handle(exchange).catch(drop);
  });
  const faulty = {
    endpoint: await listening(server),
    /** Decides the outcome of each call. */
    handle: ({ pass }: Exchange): Promise<unknown> => pass(),
    close() {
      server.close();
      server.closeAllConnections();
    },
  };
  return faulty;
}

async function forward({ headers: sent }: IncomingMessage, body: Buffer): Promise<TableResponse> {
  const headers = {
    ...engineHeaders,
    "content-type": String(sent["content-type"]),
    "x-amz-target": String(sent["x-amz-target"]),
  };
  const upstream = request(engineEndpoint, { method: "POST", headers });
  // Without a listener, an engine that ends in the middle of a response would end this process.
  upstream.on("error", () => {});
  upstream.end(body);
  const [response] = (await once(upstream, "response")) as [IncomingMessage];
  // The proxy has the whole body and states its length.
  const { "transfer-encoding": _, ...received } = response.headers;
  return {
    status: response.statusCode ?? 0,
    headers: received as Record<string, string>,
    body: await buffer(response),
  };
}
