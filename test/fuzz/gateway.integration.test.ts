import fc from "fast-check";
import { expect, test } from "vitest";
import { request as send, startApi } from "../support/api.ts";
import { exchange, parseResponses } from "../support/socket.ts";
import { fuzz, type Tally } from "./cases.ts";
import { combineVerdicts } from "./generators/part.ts";
import { noise, wiredRequest } from "./generators/wire.ts";
import { expectGood } from "./properties.ts";
import { wireBytes } from "./wire-bytes.ts";
import { newWorld, type World } from "./world.ts";

const api = await startApi({ maxEnvironments: 1 });

const start = () =>
  newWorld(
    async (account) => (await api.issueKey(account)).apiKey,
    async ({ apiKey }, route, sent) => (await send(api, route, { apiKey, ...sent })).body,
  );

type Wired = typeof wiredRequest extends fc.Arbitrary<infer T> ? T : never;

async function sendRequest(world: World, [{ value, verdict }, wire]: Wired, tally: Tally) {
  const { bytes, framing, body } = wireBytes(world, value, wire);
  const received = await exchange(api.url, bytes, framing.ends === true);
  const responses = parseResponses(received, wire.method.value === "HEAD");
  if (!framing.mayContinue) expect(responses).toHaveLength(1);
  expect(responses.length).toBeGreaterThan(0);
  // Without a length, the server does not read the body.
  const mayBeRefused = framing.mayContinue || isUnproven(body, framing.headers);
  const all = mayBeRefused ? "any" : combineVerdicts([{ value, verdict }, ...Object.values(wire)]);
  for (const [index, response] of responses.entries()) {
    tally.add(response);
    expect(response.headers["apigw-requestid"]).toMatch(/./);
    if (response.text === "") continue;
    const sent = { who: value.who, route: value.route, body: body.toString() };
    await expectGood(world, { ...sent, verdict: index === 0 ? all : "any" }, response);
  }
}

/** Whether a body has U+FFFD, but no length that shows that it was sent. */
const isUnproven = (body: Buffer, headers: readonly string[]) =>
  body.includes("\ufffd") && !headers.some((line) => /^content-length:/i.test(line));

test("every response to a random request is documented and correct", async () => {
  const tally = await fuzz("http", wiredRequest, start, sendRequest);
  expect(tally.share(200, 299)).toBeGreaterThan(0.1);
  expect(tally.share(400, 400)).toBeGreaterThan(0.1);
  // On a busy machine, the limiter may not hear from the table within half a second.
  const failures = api.log.filter(
    (line) => /failed/.test(line) && !line.includes("rate limiter failed open"),
  );
  expect(failures).toEqual([]);
}, 3_600_000);

test("random bytes that are not HTTP get 400", async () => {
  const property = fc.asyncProperty(noise, async (bytes) => {
    for (const { status } of parseResponses(await exchange(api.url, bytes, true), false))
      expect(status).toBe(400);
  });
  await fc.assert(property, { numRuns: 100 });
});
