import { createServer } from "node:http";
import { json } from "node:stream/consumers";
import { setTimeout } from "node:timers/promises";
import { decodeTime } from "ulid";
import { afterAll, expect, test, vi } from "vitest";
import { listening } from "../support/listening.ts";

const attempts: { at: number; id: string }[] = [];

/** A table that takes every request and never answers. */
const server = createServer(async (request) => {
  const at = Date.now();
  const { Item } = (await json(request)) as { Item: { id: { S: string } } };
  attempts.push({ at, id: Item.id.S });
});
afterAll(() => server.closeAllConnections());

vi.stubEnv("AWS_ENDPOINT_URL_DYNAMODB", await listening(server));
vi.stubEnv("AWS_ACCESS_KEY_ID", "local");
vi.stubEnv("AWS_SECRET_ACCESS_KEY", "local");
vi.spyOn(console, "error").mockImplementation(() => {});

test("a table that never answers is asked twice, a second each, and answered for with 503", async () => {
  // Imported here, for the client takes its endpoint from the environment.
  const { call } = await import("../support/call.ts");
  attempts.length = 0;
  const start = Date.now();
  const { status, headers, problem } = await call("create-lead", { body: { name: "Ada" } });
  const end = Date.now();

  expect(status).toBe(503);
  expect(headers["retry-after"]).toBe("1");
  expect(problem.code).toBe("busy");
  const [first, second, ...others] = attempts;
  if (!first || !second) throw new Error(`There were ${attempts.length} attempts.`);
  expect(others).toEqual([]);
  expect(second.at - first.at).toBeGreaterThanOrEqual(950);
  expect(end - second.at).toBeGreaterThanOrEqual(950);
  expect(end - start).toBeLessThan(3000);
  // The counts of leads rely on it: no attempt starts with an id that is older.
  expect(second.id).toBe(first.id);
  expect(second.at - decodeTime(second.id.slice("lead_".length))).toBeLessThan(2000);
});

test("a call that was left behind in a frozen environment is not attempted again when that thaws", async () => {
  const { call } = await import("../support/call.ts");
  attempts.length = 0;
  // The invocation has no time left when its first attempt is on its way.
  expect((await call("create-lead", { body: { name: "Ada" } }, 600)).status).toBe(503);
  expect(attempts).toHaveLength(1);
  vi.useFakeTimers({ now: Date.now() + 60_000, toFake: ["Date"] });
  await setTimeout(1500);
  vi.useRealTimers();
  expect(attempts).toHaveLength(1);
});
