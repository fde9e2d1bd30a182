import { onTestFinished } from "vitest";
import { startGateway } from "../../../../lib/local/gateway/gateway.ts";
import type { WebPages } from "../../../../lib/local/gateway/request-routing.ts";
import type { ApiDefinition } from "../../../../lib/local/template/api-routes.ts";
import type { Invoke } from "../../../../lib/local/template/functions.ts";
import { createFunction } from "./stack.ts";

interface Options {
  /** The function behind `GET /probes` and `POST /probes`. */
  readonly respond?: (event: Record<string, unknown>) => unknown;
  readonly authorize?: (event: Record<string, unknown>) => unknown;
  readonly ttlSeconds?: number;
  readonly throttle?: ApiDefinition["throttle"];
  readonly webPages?: WebPages;
  readonly port?: number;
}

/** Starts a gateway in front of `GET /probes`, `POST /probes` and `GET /others`; it stops at the end of the test. */
export async function startProbes({
  respond = () => ({ statusCode: 200 }),
  authorize = () => ({ isAuthorized: true }),
  ttlSeconds = 60,
  throttle = { ratePerSecond: 0, burst: Number.POSITIVE_INFINITY },
  webPages,
  port = 0,
}: Options = {}) {
  const probe = await createFunction("", { label: "probe" });
  const authorizer = { function: await createFunction(""), identityHeader: "authorization", ttlSeconds };
  const route = { path: "/probes", function: probe };
  const other = { ...route, method: "GET", path: "/others" };
  const routes = [{ ...route, method: "GET" }, { ...route, method: "POST" }, other];
  const log: string[] = [];
  const invoke: Invoke = async (fn, payload) => {
    const event = JSON.parse(payload);
    return fn === probe ? respond(event) : authorize(event);
  };
  const api: ApiDefinition = { routes, authorizer, throttle, urlFunction: undefined };
  const options = { port, invoke, webPages, faultsOf: () => [] };
  const gateway = await startGateway(api, { ...options, log: (line) => log.push(line) });
  onTestFinished(gateway.close);
  const get = (path = "/probes", { headers, ...init }: RequestInit = {}) =>
    fetch(`${gateway.url}${path}`, { ...init, headers: { authorization: "x", ...headers } });
  return { ...gateway, log, get };
}
