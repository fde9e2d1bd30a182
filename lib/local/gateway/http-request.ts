import type { IncomingMessage } from "node:http";

/** A request with its whole body. */
export interface HttpRequest {
  readonly method: string;
  readonly path: string;
  /** The undecoded query. */
  readonly query: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Buffer;
}

/** Headers that functions do not receive: those of the connection, and cookies, which no route has. */
const omittedHeaders = "connection keep-alive transfer-encoding upgrade expect te cookie".split(" ");

/** Parses a request; undefined when the path cannot be decoded. */
export function parseRequest(request: IncomingMessage, body: Buffer): HttpRequest | undefined {
  const target = parseTarget(request.url ?? "");
  return (
    target && {
      ...target,
      headers: parseHeaders(request.rawHeaders),
      method: request.method ?? "",
      body,
    }
  );
}

/**
 * Whether a `Host` names this machine, with any port: a development server that forwards requests may keep its own.
 *
 * A page of another site can reach the gateway under its own host name, if it makes that name resolve to 127.0.0.1.
 *
 * @param host undefined for a request without it, which no browser sends
 */
export const isOwnHost = (host: string | undefined) =>
  host === undefined || /^(?:127\.0\.0\.1|localhost)(?::\d+)?$/i.test(host);

/** Splits a request target into decoded path and undecoded query; undefined when the path cannot be decoded. */
function parseTarget(target: string): Pick<HttpRequest, "path" | "query"> | undefined {
  const [, path = "", query = ""] = /^(?:https?:\/\/[^/?]*)?([^?]*)\??(.*)$/s.exec(target) ?? [];
  try {
    return { path: decodeURIComponent(path), query };
  } catch {
    return undefined;
  }
}

/**
 * Converts header names to lower case and joins repeated headers (docs/assumptions.md#repeated-headers).
 *
 * @param rawHeaders alternating names and values
 */
function parseHeaders(rawHeaders: readonly string[]): HttpRequest["headers"] {
  const pairs = rawHeaders.flatMap((name, index): [string, string][] =>
    index % 2 === 0 ? [[name.toLowerCase(), String(rawHeaders[index + 1])]] : [],
  );
  const groups = Map.groupBy(pairs, ([name]) => name);
  for (const name of omittedHeaders) groups.delete(name);
  return Object.fromEntries(
    [...groups].map(([name, group]) => [name, group.map(([, value]) => value).join()]),
  );
}
