import middy from "@middy/core";
import type { APIGatewayProxyStructuredResultV2, Context } from "aws-lambda";
import { describe, expect, test } from "vitest";
import { compressedFrom, compressedResponses } from "../../../shared/http/compressed-responses.ts";
import type { RouteEvent } from "../../../shared/http/route-event.ts";
import { decodedBody } from "../../support/decoded-body.ts";
import { lambdaContext, routeEvent } from "../../support/events.ts";

/** Compresses the response of a handler, if the caller's `Accept-Encoding` allows it. */
async function respond(response: APIGatewayProxyStructuredResultV2, acceptEncoding?: string) {
  const handler = middy<RouteEvent, APIGatewayProxyStructuredResultV2>()
    .use(compressedResponses())
    .handler(async () => structuredClone(response));
  const event = routeEvent("list-leads", {
    ...(acceptEncoding !== undefined && { headers: { "accept-encoding": acceptEncoding } }),
  }) as unknown as RouteEvent;
  return await handler(event, lambdaContext() as Context);
}

const ok = (body: string, headers = {}) => ({ statusCode: 200, headers, body });

describe.each([
  ["one byte each", "x"],
  ["two bytes each", "\u00e9"],
])("a body of characters of %s", (_, character) => {
  const bodyOf = (bytes: number) => character.repeat(Math.floor(bytes / Buffer.byteLength(character)));

  test(`is compressed from ${compressedFrom} bytes`, async () => {
    const body = bodyOf(compressedFrom);
    expect(Buffer.byteLength(body)).toBe(compressedFrom);
    const response = await respond(ok(body), "gzip");
    expect(response).toMatchObject({
      statusCode: 200,
      headers: { "content-encoding": "gzip", vary: "Accept-Encoding" },
      isBase64Encoded: true,
    });
    expect(Buffer.from(response.body ?? "", "base64").length).toBeLessThan(compressedFrom);
    expect(decodedBody(response)).toBe(body);
  });

  test("stays plain below", async () => {
    const response = ok(bodyOf(compressedFrom - 1));
    expect(await respond(response, "gzip")).toEqual({ ...response, headers: { vary: "Accept-Encoding" } });
  });
});

test.each([undefined, "", "br", "gzip;q=0"])("a large body stays plain for %j", async (acceptEncoding) => {
  const response = ok("x".repeat(10_000));
  expect(await respond(response, acceptEncoding)).toEqual({
    ...response,
    headers: { vary: "Accept-Encoding" },
  });
});

test.each([["x"], ["x".repeat(10_000)]])("Vary keeps what it names already", async (body) => {
  const { headers } = await respond(ok(body, { vary: "Origin" }), "gzip");
  expect(headers?.vary).toBe("Origin, Accept-Encoding");
});
