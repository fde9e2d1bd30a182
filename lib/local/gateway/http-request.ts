import type { IncomingMessage } from "node:http";

/** A request with its whole body. */
export interface HttpRequest {
  readonly method: string;
  readonly path: string;
  /** The undecoded query. */
  readonly query: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly cookies: readonly string[];
  readonly protocol: string;
  readonly sourceIp: string;
  readonly port: number;
  readonly body: Buffer;
}

/** Headers of the connection between client and gateway, which functions do not receive. */
const connectionHeaders = new Set([
  "connection",
  "keep-alive",
  "transfer-encoding",
  "upgrade",
  "expect",
  "te",
]);

/** Parses a request; undefined when HTTP/1.1's `Host` is missing or the path cannot be decoded. */
export function parseRequest(request: IncomingMessage, body: Buffer): HttpRequest | undefined {
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

/** Splits a request target into decoded path and undecoded query; undefined when the path cannot be decoded. */
export function parseTarget(target: string): Pick<HttpRequest, "path" | "query"> | undefined {
  const [, path = "", query = ""] = /^(?:https?:\/\/[^/?]*)?([^?]*)\??(.*)$/s.exec(target) ?? [];
  try {
    return { path: decodeURIComponent(path), query };
  } catch {
    return undefined;
  }
}

/**
 * Converts header names to lower case, joins repeated headers and separates the cookies.
 *
 * @param rawHeaders alternating names and values
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

/** Decodes the parameters and joins repeated ones. */
export function parseQuery(query: string): Record<string, string> {
  const parameters = new Map<string, string>();
  for (const [name, value] of new URLSearchParams(query)) {
    const earlier = parameters.get(name);
    parameters.set(name, earlier === undefined ? value : `${earlier},${value}`);
  }
  return Object.fromEntries(parameters);
}
