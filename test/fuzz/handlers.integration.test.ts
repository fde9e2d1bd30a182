import fc from "fast-check";
import { expect, test, vi } from "vitest";
import { handler as authorize } from "../../functions/authorize.ts";
import { invokeHandler } from "../support/call.ts";
import { decodedBody } from "../support/decoded-body.ts";
import { authorizerEvent, routeEvent } from "../support/events.ts";
import { fuzz } from "./cases.ts";
import { type EventShape, eventShape, identity, isFaithful } from "./generators/event.ts";
import { type FuzzRequest, request } from "./generators/request.ts";
import { expectGood } from "./properties.ts";
import { newWorld, resolve, type Send, toBytes, type World } from "./world.ts";

const send: Send = async ({ name: account }, route, sent) => {
  const { body } = await invokeHandler(route, routeEvent(route, { account, ...sent }));
  return JSON.parse(body ?? "");
};

/** Builds the event of a request. */
function toEvent(world: World, { route, who, ...sent }: FuzzRequest, shape: EventShape) {
  const bytes = toBytes(world, who, sent.body);
  const text = shape.rawBody ?? bytes.toString();
  const asBase64 = shape.rawBody === null && /^base64/.test(shape.transfer);
  const body = asBase64 ? bytes.toString("base64") : text;
  const query = shape.rawQueryString ?? resolve(world, who, sent.query);
  const { headers: _, ...event } = routeEvent(route, { account: world.accounts[who].name, query });
  const headers = Object.fromEntries([
    ...sent.headers.map(([name, value]) => [name, resolve(world, who, value)]),
    ...(sent.types.length > 0 ? [["content-type", sent.types.join()]] : []),
    ...(bytes.length > 0 ? [["content-length", String(bytes.length)]] : []),
  ]);
  const isBase64Encoded = shape.transfer === "base64" || shape.transfer === "text called base64";
  return { ...event, headers, ...(body && { body }), isBase64Encoded };
}

/** The text of an event's body, as a function reads it. */
const readBody = ({ body = "", isBase64Encoded }: { body?: string; isBase64Encoded: boolean }) =>
  Buffer.from(body, isBase64Encoded ? "base64" : "utf8").toString();

test("every response of a handler to a random event is documented and correct", async () => {
  const log = vi.spyOn(console, "error");
  const tally = await fuzz(
    "events",
    fc.tuple(request, eventShape),
    () => newWorld(async () => "", send),
    async (world, [{ value, verdict }, shape], tally) => {
      const event = toEvent(world, value, shape);
      const sent = { who: value.who, route: value.route, body: readBody(event) };
      const result = await invokeHandler(value.route, event);
      const { statusCode = 0, headers = {} } = result;
      const text = decodedBody(result);
      const response = { status: statusCode, headers: headers as Record<string, string>, text };
      tally.add(response);
      await expectGood(world, { ...sent, verdict: isFaithful(shape, value) ? verdict : "any" }, response);
    },
  );
  expect(log.mock.calls).toEqual([]);
  expect(tally.share(200, 299)).toBeGreaterThan(0.25);
  expect(tally.share(400, 499)).toBeGreaterThan(0.25);
}, 3_600_000);

test("the authorizer denies every random identity and does not throw", async () => {
  const property = fc.asyncProperty(identity, async (identitySource) => {
    expect(await authorize({ ...authorizerEvent(""), identitySource } as never)).toEqual({
      isAuthorized: false,
    });
  });
  await fc.assert(property, { numRuns: 500 });
});
