import type { IncomingMessage } from "node:http";
import type { Invoke, LocalFunction } from "../template/functions.ts";
import { toResponse } from "./gateway-responses.ts";
import type { Pages } from "./request-routing.ts";

/** The path under which the local run serves a function URL, which has a host name of its own on AWS. */
export const functionUrlPath = "/webhook";

/** Serves a function by its URL. @see https://docs.aws.amazon.com/lambda/latest/dg/urls-invocation.html */
export const functionUrlPages =
  (fn: LocalFunction, invoke: Invoke, pages?: Pages): Pages =>
  async (incoming: IncomingMessage, body) => {
    const url = new URL(incoming.url ?? "", "http://127.0.0.1");
    if (url.pathname !== functionUrlPath) return pages?.(incoming, body);
    const { method } = incoming;
    const event = {
      ...{ version: "2.0", rawPath: "/", rawQueryString: url.search.slice(1), isBase64Encoded: true },
      headers: incoming.headers,
      queryStringParameters: Object.fromEntries(url.searchParams),
      requestContext: { http: { method } },
      body: body.toString("base64"),
    };
    return invoke(fn, JSON.stringify(event)).then(toResponse, () => new Response(null, { status: 502 }));
  };
