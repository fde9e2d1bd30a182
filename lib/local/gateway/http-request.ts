import type { IncomingMessage } from "node:http";

/** A request as it came in, read whole. */
export interface HttpRequest {
  readonly method: string;
  readonly path: string;
  /** The query as it was sent. */
  readonly query: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly cookies: readonly string[];
  readonly protocol: string;
  readonly sourceIp: string;
  readonly port: number;
  readonly body: Buffer;
}

/** Not passed on: they are about the connection, which ends at the gateway. */
const connectionHeaders = new Set([
  "connection",
  "keep-alive",
  "transfer-encoding",
  "upgrade",
  "expect",
  "te",
]);

/** Reads what was received; undefined when it names no host, as HTTP/1.1 must, or its path cannot be decoded. */
export function readRequest(request: IncomingMessage, body: Buffer): HttpRequest | undefined {
  if (request.httpVersion === "1.1" && request.headers.host === undefined) return undefined;
  const target = parseTarget(request.url ?? "");
  return (
    target && {
      ...target,
      ...parseHeaders(request.rawHeaders),
      method: request.method ?? "",
      protocol: `HTTP/${request.httpVersion}`,
      sourceIp: request.socket.remoteAddress ?? "",
      port: request.socket.localPort ?? 0,
      body,
    }
  );
}

/** Parts a request target; the path is decoded, the query left as it is. Undefined when the path cannot be decoded. */
export function parseTarget(target: string): Pick<HttpRequest, "path" | "query"> | undefined {
  const [, path = "", query = ""] = /^(?:https?:\/\/[^/?]*)?([^?]*)\??(.*)$/s.exec(target) ?? [];
  try {
    return { path: decodeURIComponent(path), query };
  } catch {
    return undefined;
  }
}

/**
 * Header names in lower case, repeated ones joined, cookies on their own.
 *
 * @param rawHeaders names and values in turn, as they were sent
 */
export function parseHeaders(rawHeaders: readonly string[]): Pick<HttpRequest, "headers" | "cookies"> {
  const headers = new Map<string, string>();
  const cookies: string[] = [];
  for (let index = 0; index < rawHeaders.length; index += 2) {
    const name = String(rawHeaders[index]).toLowerCase();
    const value = String(rawHeaders[index + 1]);
    const earlier = headers.get(name);
    if (name === "cookie") cookies.push(...value.split(/; */));
    else if (!connectionHeaders.has(name))
      headers.set(name, earlier === undefined ? value : `${earlier},${value}`);
  }
  return { headers: Object.fromEntries(headers), cookies };
}

/** The parameters decoded, repeated ones joined. */
export function parseQuery(query: string): Record<string, string> {
  const parameters = new Map<string, string>();
  for (const [name, value] of new URLSearchParams(query)) {
    const earlier = parameters.get(name);
    parameters.set(name, earlier === undefined ? value : `${earlier},${value}`);
  }
  return Object.fromEntries(parameters);
}
