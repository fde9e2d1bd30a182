import { once } from "node:events";
import { createServer, type IncomingMessage, request, type ServerResponse } from "node:http";
import { buffer } from "node:stream/consumers";
import { engineHeaders } from "../../lib/local/engine/dynamodb-client.ts";
import { listening } from "../support/listening.ts";
import { type Exchange, type Handle, pass, type TableResponse } from "./exchange.ts";

/** How far an index may lag, in milliseconds. */
const staleness = 3000;

/** A younger response is not stale, in milliseconds. */
const minAge = 100;

interface Entry {
  /** When it was requested, in milliseconds since the epoch. */
  readonly at: number;
  readonly response: TableResponse;
}

/**
 * Recent responses of the indexes. The embedded engine's indexes never lag, so an earlier response to the same query
 * stands for that of an index that lags.
 */
class IndexMemory {
  readonly #entries = new Map<string, Entry[]>();

  keep(query: string, entry: Entry): void {
    this.#entries.set(query, [...this.#recent(query), entry]);
  }

  /** The oldest response to the query that a lagging index may return. */
  earlier(query: string): TableResponse | undefined {
    const [oldest] = this.#recent(query);
    return oldest && oldest.at <= Date.now() - minAge ? oldest.response : undefined;
  }

  #recent(query: string): Entry[] {
    const since = Date.now() - staleness;
    return (this.#entries.get(query) ?? []).filter(({ at }) => at >= since);
  }
}

/** Starts a proxy to the engine that injects faults. */
export async function startFaultyTable(engine: string) {
  const forward = createForward(engine);
  const memory = new IndexMemory();
  const server = createServer(async (request, response) => {
    const body = await buffer(request);
    const exchange = createExchange({ request, response, body }, { forward, memory });
    // A caller that disconnected gets no response; when the engine fails, the connection is closed.
    await faulty.handle(exchange).catch(() => exchange.drop());
  });
  server.keepAliveTimeout = 0;
  const faulty = {
    endpoint: await listening(server),
    /** Decides the outcome of each call; passes all calls unless it is replaced. */
    handle: pass as Handle,
    close() {
      server.close();
      server.closeAllConnections();
    },
  };
  return faulty;
}

type Forward = (request: IncomingMessage, body: Buffer) => Promise<TableResponse>;

function createForward(engine: string): Forward {
  return async ({ headers: sent }, body) => {
    const headers = {
      ...engineHeaders,
      "content-type": String(sent["content-type"]),
      "x-amz-target": String(sent["x-amz-target"]),
    };
    const upstream = request(engine, { method: "POST", headers });
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
  };
}

interface Received {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly body: Buffer;
}

function createExchange(
  { request, response, body }: Received,
  { forward, memory }: { forward: Forward; memory: IndexMemory },
): Exchange {
  const text = body.toString();
  const operation = String(request.headers["x-amz-target"]).replace(/^.*\./, "");
  const input: Exchange["input"] = JSON.parse(text);
  const writeHead = ({ status, headers, body }: TableResponse) =>
    response.writeHead(status, { ...headers, "content-length": body.length });
  return {
    operation,
    input,
    earlier: memory.earlier(text),
    async forward(changes) {
      const at = Date.now();
      const sent = changes ? Buffer.from(JSON.stringify({ ...input, ...changes })) : body;
      const response = await forward(request, sent);
      if (operation === "Query" && input.IndexName !== undefined && response.status === 200)
        memory.keep(text, { at, response });
      return response;
    },
    reply: (response) => void writeHead(response).end(response.body),
    drop: () => void request.socket.destroy(),
    truncate(response) {
      writeHead(response).write(response.body.subarray(0, response.body.length / 2), () =>
        request.socket.destroy(),
      );
    },
  };
}
