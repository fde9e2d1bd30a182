import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { buffer } from "node:stream/consumers";
import { engineClient, signAs } from "../../lib/local/engine/dynamodb-client.ts";
import type { Sign } from "../../lib/local/iam/iam-proxy.ts";
import { listening } from "../support/listening.ts";
import { type Answer, type Exchange, type Handle, pass } from "./exchange.ts";
import { IndexMemory } from "./index-memory.ts";

/** A way to the table on which calls may go wrong. */
export interface FaultyTable {
  readonly endpoint: string;
  /** Decides what becomes of each call; at first all of them pass. */
  handle: Handle;
  close(): void;
}

/** Starts a proxy to the engine that does to each call what it is told to. */
export async function startFaultyTable(engine: string): Promise<FaultyTable> {
  const client = engineClient(engine);
  const forward = createForward(engine, signAs(client, engine));
  const memory = new IndexMemory();
  const server = createServer(async (request, response) => {
    const body = await buffer(request);
    const exchange = exchangeOf({ request, response, body }, { forward, memory });
    // A caller that hung up gets no answer, and an engine that fails drops the connection.
    await faulty.handle(exchange).catch(() => exchange.drop());
  });
  server.keepAliveTimeout = 0;
  const faulty: FaultyTable = {
    endpoint: await listening(server),
    handle: pass,
    close() {
      server.close();
      server.closeAllConnections();
      client.destroy();
    },
  };
  return faulty;
}

type Forward = (request: IncomingMessage, body: Buffer) => Promise<Answer>;

function createForward(engine: string, sign: Sign): Forward {
  return async ({ headers: received }, body) => {
    const names = ["content-type", "x-amz-target"];
    const headers = await sign(Object.fromEntries(names.map((name) => [name, String(received[name])])), body);
    const { host, ...others } = headers as Record<string, string>;
    const response = await fetch(engine, { method: "POST", headers: others, body: new Uint8Array(body) });
    return {
      status: response.status,
      headers: Object.fromEntries(response.headers),
      body: Buffer.from(await response.arrayBuffer()),
    };
  };
}

interface Received {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly body: Buffer;
}

function exchangeOf(
  { request, response, body }: Received,
  { forward, memory }: { forward: Forward; memory: IndexMemory },
): Exchange {
  const text = body.toString();
  const operation = String(request.headers["x-amz-target"]).replace(/^.*\./, "");
  const input: Exchange["input"] = JSON.parse(text);
  const begin = ({ status, headers, body }: Answer) =>
    response.writeHead(status, { ...headers, "content-length": body.length });
  return {
    operation,
    input,
    earlier: memory.earlier(text),
    async forward() {
      const at = Date.now();
      const response = await forward(request, body);
      if (operation === "Query" && input.IndexName !== undefined && response.status === 200)
        memory.keep(text, { at, response });
      return response;
    },
    reply: (response) => void begin(response).end(response.body),
    drop: () => void request.socket.destroy(),
    truncate(response) {
      begin(response).write(response.body.subarray(0, response.body.length / 2), () =>
        request.socket.destroy(),
      );
    },
  };
}
