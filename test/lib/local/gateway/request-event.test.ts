import { expect, test } from "vitest";
import {
  type HttpRequest,
  parseHeaders,
  parseQuery,
  parseTarget,
} from "../../../../lib/local/gateway/http-request.ts";
import {
  buildAuthorizerEvent,
  buildFunctionEvent,
  buildRequestEvent,
  createRequestId,
} from "../../../../lib/local/gateway/request-event.ts";
import { createFunction } from "../support/stack.ts";

async function createEvent(request: Partial<HttpRequest> = {}) {
  const route = { method: "GET", path: "/probes", timeout: 30_000, function: await createFunction("") };
  const meta = {
    route,
    apiId: "api",
    requestId: "ATfSmjLgPHcESJw=",
    at: new Date("2026-07-10T19:19:05.123Z"),
  };
  const complete = {
    method: "GET",
    path: "/probes",
    query: "",
    headers: {},
    cookies: [],
    protocol: "HTTP/1.1",
    sourceIp: "127.0.0.1",
    port: 3000,
    body: Buffer.alloc(0),
    ...request,
  };
  return buildRequestEvent(complete, meta);
}

test.each([
  ["/probes", { path: "/probes", query: "" }],
  ["/probes?", { path: "/probes", query: "" }],
  ["/a%20b%2Fc?x=%20+&y", { path: "/a b/c", query: "x=%20+&y" }],
  ["/probes?a=1?b=2", { path: "/probes", query: "a=1?b=2" }],
  ["http://host:3000/probes?x=1", { path: "/probes", query: "x=1" }],
  ["//probes", { path: "//probes", query: "" }],
  ["/%zz", undefined],
])("the target %s is split", (target, parts) => {
  expect(parseTarget(target)).toEqual(parts);
});

test.each([
  ["a=1&a=2&b=", { a: "1,2", b: "" }],
  ["a=x+y%20z&b", { a: "x y z", b: "" }],
  ["a=%zz", { a: "%zz" }],
  ["__proto__=1", { ["__proto__"]: "1" }],
])("the query %s is decoded", (query, parameters) => {
  expect(parseQuery(query)).toEqual(parameters);
});

test("header names become lower case, repeated headers are joined, cookies are separated, connection headers are dropped", () => {
  const ofConnection = ["Connection", "Keep-Alive", "Transfer-Encoding", "Upgrade", "Expect", "TE"];
  const rawHeaders = [
    ...["X-A", "1", "x-a", "2", "Cookie", "a=1; b=2", "Host", "h"],
    ...ofConnection.flatMap((name) => [name, "x"]),
  ];
  expect(parseHeaders(rawHeaders)).toEqual({ headers: { "x-a": "1,2", host: "h" }, cookies: ["a=1", "b=2"] });
});

test("the event has payload format 2.0, without absent fields", async () => {
  const event = buildFunctionEvent(
    await createEvent({ headers: { "user-agent": "probe" } }),
    Buffer.alloc(0),
  );
  expect(event).toEqual({
    version: "2.0",
    routeKey: "GET /probes",
    rawPath: "/probes",
    rawQueryString: "",
    headers: {
      "user-agent": "probe",
      "x-forwarded-for": "127.0.0.1",
      "x-forwarded-port": "3000",
      "x-forwarded-proto": "http",
    },
    requestContext: {
      accountId: "000000000000",
      apiId: "api",
      domainName: "api.execute-api.local.amazonaws.com",
      domainPrefix: "api",
      http: {
        method: "GET",
        path: "/probes",
        protocol: "HTTP/1.1",
        sourceIp: "127.0.0.1",
        userAgent: "probe",
      },
      requestId: "ATfSmjLgPHcESJw=",
      routeKey: "GET /probes",
      stage: "$default",
      time: "10/Jul/2026:19:19:05 +0000",
      timeEpoch: Date.parse("2026-07-10T19:19:05.123Z"),
    },
    isBase64Encoded: false,
  });
});

test("query, cookies, body and the authorizer's context are included when present", async () => {
  const event = await createEvent({
    query: "a=1",
    cookies: ["c=1"],
    headers: { "content-type": "application/json" },
  });
  expect(buildFunctionEvent(event, Buffer.from('{"a":"é"}'), { accountId: "demo" })).toMatchObject({
    queryStringParameters: { a: "1" },
    rawQueryString: "a=1",
    cookies: ["c=1"],
    body: '{"a":"é"}',
    isBase64Encoded: false,
    requestContext: { authorizer: { lambda: { accountId: "demo" } } },
  });
});

test.each([
  ["application/json", false],
  ["Application/JSON; charset=utf-8", false],
  ['application/json;charset="UTF-8"', false],
  ["application/json; charset=iso-8859-1", true],
  ["text/plain; charset=iso-8859-1", true],
  ["text/csv", false],
  ["application/graphql", false],
  ["application/xml", false],
  ["application/javascript", false],
  ["application/problem+json", true],
  ["application/octet-stream", true],
  ["application/jsonp", true],
  [undefined, true],
])("a body of type %s is base64-encoded: %s", async (type, encoded) => {
  const event = await createEvent({ headers: type === undefined ? {} : { "content-type": type } });
  const body = Buffer.from("{}");
  expect(buildFunctionEvent(event, body)).toMatchObject({
    isBase64Encoded: encoded,
    body: body.toString(encoded ? "base64" : "utf8"),
  });
});

test("the authorizer's event has the route and the identity, but no body", async () => {
  const event = buildAuthorizerEvent(await createEvent(), ["Bearer x"]);
  expect(event).toMatchObject({
    version: "2.0",
    type: "REQUEST",
    routeArn: "arn:aws:execute-api:local:000000000000:api/$default/GET/probes",
    identitySource: ["Bearer x"],
  });
  expect(event).not.toHaveProperty("body");
  expect(event).not.toHaveProperty("isBase64Encoded");
});

test("request ids have the gateway's format", () => {
  expect(createRequestId()).toMatch(/^[\w+/]{15}=$/);
});
