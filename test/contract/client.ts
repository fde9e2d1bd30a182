import { once } from "node:events";
import { type IncomingHttpHeaders, type IncomingMessage, request as requestHttp } from "node:http";
import { request as requestHttps } from "node:https";
import { buffer } from "node:stream/consumers";
import { setTimeout } from "node:timers/promises";
import { gunzipSync } from "node:zlib";

/** A header that has several values is sent once for each of them. */
export type Headers = Readonly<Record<string, string | readonly string[]>>;

export interface Sending {
  /** By default GET. */
  readonly method?: string;
  /** The path and the query, sent as they are. */
  readonly path: string;
  /** Sent in addition to that of the key, or in its place. */
  readonly headers?: Headers;
  /** A text or bytes are sent as they are, anything else as JSON. */
  readonly body?: unknown;
}

export interface HttpResponse {
  /** The method and the path, for messages. */
  readonly request: string;
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  /** The body as it was received, perhaps compressed. */
  readonly bytes: Buffer;
  /** The parsed body; undefined if it is not JSON. */
  readonly body: unknown;
}

/** How often a request is sent at most, as long as the responses ask for a retry. */
const attempts = 8;

/** The longest wait for a retry, in seconds: a window of the default rate limit. */
const longestWait = 60;

/** How long a response may take, in milliseconds: API Gateway waits 30 seconds for a function. */
const timeout = 35_000;

/** A POST of JSON, unless the headers have another content type. */
export function posting(path: string, body: unknown, headers: Headers = {}): Sending {
  return { method: "POST", path, body, headers: { "content-type": "application/json", ...headers } };
}

/** Sends requests with one API key. */
export class Client {
  readonly #base: URL;
  readonly #key: string | undefined;
  readonly #signal: AbortSignal | undefined;

  /**
   * @param key no `Authorization` header is sent without it
   * @param signal ends the wait for a retry
   */
  constructor(url: string, key?: string, signal?: AbortSignal) {
    this.#base = new URL(url);
    this.#key = key;
    this.#signal = signal;
  }

  get(path: string, headers?: Headers): Promise<HttpResponse> {
    return this.send({ path, ...(headers && { headers }) });
  }

  post(path: string, body: unknown, headers?: Headers): Promise<HttpResponse> {
    return this.send(posting(path, body, headers));
  }

  /** Sends a request, and again where the documentation asks for it. @returns the last response @throws AbortError */
  async send(sending: Sending): Promise<HttpResponse> {
    for (let attempt = 1; ; attempt++) {
      const response = await this.sendOnce(sending);
      if (attempt === attempts || !mayRetry(sending, response)) return response;
      const seconds = Number(response.headers["retry-after"] ?? 1) || 1;
      const ending = this.#signal && { signal: this.#signal };
      await setTimeout(1000 * Math.min(seconds, longestWait), undefined, ending);
    }
  }

  /** @param isAgain whether it is sent again, over a connection of its own. @throws Error if there is no response */
  async sendOnce(sending: Sending, isAgain = false): Promise<HttpResponse> {
    const { method = "GET", path, headers, body } = sending;
    const { protocol, hostname, port, pathname } = this.#base;
    const bytes = Buffer.isBuffer(body) ? body : toBytes(body);
    const key = this.#key !== undefined && { authorization: `Bearer ${this.#key}` };
    const sent = (protocol === "https:" ? requestHttps : requestHttp)({
      hostname,
      port,
      // The path is sent as it is: a URL would correct what is wrong with it.
      path: pathname.replace(/\/$/, "") + path,
      method,
      headers: { ...key, ...(bytes && { "content-length": String(bytes.length) }), ...headers },
      timeout,
      ...((isAgain || !isRepeatable(sending)) && { agent: false }),
    });
    sent.on("timeout", () => sent.destroy(new Error(`no response within ${timeout / 1000} s`)));
    // A response may come before the whole body is sent, and end the connection.
    sent.on("error", () => {});
    const responding: Promise<IncomingMessage[]> = once(sent.end(bytes), "response");
    const [response] = await responding.catch((error: unknown) => {
      // The server may close an idle connection just when it is used.
      if (sent.reusedSocket && Object(error).code === "ECONNRESET") return [];
      throw error;
    });
    if (!response) return this.sendOnce(sending, true);
    const received = await buffer(response);
    return {
      request: `${method} ${path}`,
      status: response.statusCode ?? 0,
      headers: response.headers,
      bytes: received,
      body: parse(response.headers["content-encoding"] === "gzip" ? gunzipSync(received) : received),
    };
  }
}

/** Whether a request can be sent again when it is unknown if it has taken effect: a POST needs an idempotency key. */
const isRepeatable = ({ method, headers = {} }: Sending) => method !== "POST" || "idempotency-key" in headers;

/** Whether a request may be retried. A request that got 429 has not taken effect. */
const mayRetry = (sending: Sending, { status }: HttpResponse) =>
  status === 429 || (status >= 500 && isRepeatable(sending));

function toBytes(body: unknown): Buffer | undefined {
  return body === undefined ? body : Buffer.from(typeof body === "string" ? body : JSON.stringify(body));
}

function parse(bytes: Buffer): unknown {
  try {
    return JSON.parse(bytes.toString());
  } catch {
    return undefined;
  }
}
