import { expect, onTestFinished } from "vitest";
import { isRecord } from "../../../../lib/is-record.ts";
import { startGateway } from "../../../../lib/local/gateway/gateway.ts";
import type { Api, ApiRoute } from "../../../../lib/local/template/api-definition.ts";
import type { Invoke } from "../../../../lib/local/template/functions.ts";
import { createFunction } from "./stack.ts";

interface Options {
  /** The function behind `GET /probes` and `POST /probes`: what it returns without a status is its body. */
  readonly respond?: (event: Record<string, unknown>) => unknown;
  readonly authorize?: (event: Record<string, unknown>) => unknown;
  readonly identityHeaders?: readonly string[];
  readonly ttlSeconds?: number;
  readonly throttle?: Api["throttle"];
}

/** Starts a gateway in front of `GET /probes`, `POST /probes` and `GET /others`; it stops at the end of the test. */
export async function startProbes({
  respond = () => ({}),
  authorize,
  identityHeaders = ["authorization"],
  ttlSeconds = 60,
  throttle,
}: Options = {}) {
  const probe = await createFunction("", { label: "probe" });
  const authorizer = { function: await createFunction(""), identityHeaders, ttlSeconds };
  const route = { path: "/probes", function: probe, ...(authorize && { authorizer }) };
  const other: ApiRoute = { ...route, method: "GET", path: "/others" };
  const routes: ApiRoute[] = [{ ...route, method: "GET" }, { ...route, method: "POST" }, other];
  const log: string[] = [];
  const invoke: Invoke = async (fn, payload) => {
    const event = JSON.parse(payload);
    if (fn !== probe) return authorize?.(event);
    const result = await respond(event);
    return isRecord(result) && !("statusCode" in result)
      ? { statusCode: 200, body: JSON.stringify(result) }
      : result;
  };
  const api: Api = { apiId: "api", routes, ...(throttle && { throttle }) };
  const gateway = await startGateway(api, { port: 0, invoke, log: (line) => log.push(line) });
  onTestFinished(() => gateway.stop());
  const get = (path = "/probes", init: RequestInit = {}) => fetch(`${gateway.url}${path}`, init);
  return { ...gateway, log, get };
}

/** Expects a response that the gateway sends by itself. */
export async function expectGatewayResponse(response: Response, status: number, message: string) {
  expect(response.status).toBe(status);
  expect(response.headers.get("content-type")).toBe("application/json");
  expect(response.headers.get("apigw-requestid")).toMatch(/^[\w+/]{15}=$/);
  expect(await response.json()).toEqual({ message });
}
