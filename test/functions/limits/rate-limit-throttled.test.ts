import { beforeEach, expect, test, vi } from "vitest";
import { rateLimiter } from "../../../shared/rate-limit/rate-limiter.ts";
import {
  errorResponse,
  interceptAttempts,
  type Received,
  response,
} from "../../support/tables/table-faults.ts";

const start = Date.UTC(2026, 0, 1);
const limit = 300;
/** How DynamoDB fails. */
type Fail = () => Promise<Received>;

const thrown =
  (name: string, more: object = {}, status = 400): Fail =>
  async () =>
    errorResponse(status, name, more);
const because = (reason: string) => [{ reason, resource: "arn:aws:dynamodb:local:000000000000:table/unit" }];
const hotKey = thrown("ThrottlingException", {
  throttlingReasons: because("TableWriteKeyRangeThroughputExceeded"),
});

vi.stubEnv("AWS_ACCESS_KEY_ID", "a");
vi.stubEnv("AWS_SECRET_ACCESS_KEY", "b");
let warn = vi.spyOn(console, "warn");
/** The accounts of all attempts so far. */
let attempts: string[];
/** How the table fails for the account `hot`. Otherwise, it says that each lease is the first one. */
let fail: Fail | undefined;

beforeEach(() => {
  vi.useFakeTimers({ toFake: ["Date"], now: start });
  warn = vi.spyOn(console, "warn").mockImplementation(() => {});
  // On a busy machine, a slow call must not let a request pass.
  vi.spyOn(AbortSignal, "timeout").mockReturnValue(new AbortController().signal);
  attempts = [];
  fail = undefined;
  interceptAttempts(async ({ input }) => {
    const account = input.Key.pk.S.replace("RATE#", "");
    attempts.push(account);
    if (fail && account === "hot") return fail();
    return response(200, { Attributes: { used: input.ExpressionAttributeValues[":count"] } });
  });
});

test.each([
  ["the throttle of a partition", hotKey],
  ["an older throttle without a reason", thrown("ProvisionedThroughputExceededException")],
])("after %s, the account is refused for one or two seconds without another attempt; other accounts are not", async (_, throttled) => {
  fail = throttled;
  const take = rateLimiter(limit);
  for (let n = 0; n < 100; n++) {
    const { granted, remaining, reset } = await take("hot");
    expect([granted, remaining]).toEqual([false, 0]);
    expect([1, 2]).toContain(reset);
  }
  vi.setSystemTime(start + 999);
  expect((await take("hot")).granted).toBe(false);
  expect(attempts).toEqual(["hot"]);
  expect(warn).not.toHaveBeenCalled();
  expect(await take("cold")).toEqual({ granted: true, requests: 300, remaining: 299, reset: 60 });
  // The limiter asks for the account again, and gets what is left.
  fail = undefined;
  vi.setSystemTime(start + 2000);
  expect(await take("hot")).toEqual({ granted: true, requests: 300, remaining: 299, reset: 58 });
});

test("permits that were leased before a throttle are granted", async () => {
  const take = rateLimiter(limit);
  // A lease of one, and one of two.
  for (let n = 0; n < 2; n++) await take("hot");
  fail = hotKey;
  expect((await take("hot")).granted).toBe(true);
  expect((await take("hot")).granted).toBe(false);
});

test("a throttle lasts beyond the end of its window", async () => {
  fail = hotKey;
  const take = rateLimiter(limit);
  vi.setSystemTime(start + 59_900);
  await take("hot");
  vi.setSystemTime(start + 60_100);
  expect(await take("hot")).toMatchObject({ granted: false, remaining: 0 });
  expect(attempts).toEqual(["hot"]);
});

test("environments that were throttled together ask again at different times", async () => {
  fail = hotKey;
  const takes = Array.from({ length: 100 }, () => rateLimiter(limit));
  await Promise.all(takes.map((take) => take("hot")));
  attempts = [];
  vi.setSystemTime(start + 1500);
  await Promise.all(takes.map((take) => take("hot")));
  expect(attempts.length).toBeGreaterThan(20);
  expect(attempts.length).toBeLessThan(80);
});

test.each<[string, Fail]>([
  [
    "a limit of the table",
    thrown("ThrottlingException", { throttlingReasons: because("TableWriteMaxOnDemandThroughputExceeded") }),
  ],
  [
    "a refused connection",
    () => Promise.reject(Object.assign(new Error("ada@example.com"), { code: "ECONNREFUSED" })),
  ],
  ["an error of DynamoDB", thrown("InternalServerError", {}, 500)],
  ["a missing permission", thrown("AccessDeniedException")],
])("after %s the limiter fails open for five seconds, and logs one line", async (_, failing) => {
  fail = failing;
  const take = rateLimiter(limit);
  for (let n = 0; n < 100; n++) expect((await take("hot")).granted).toBe(true);
  // The SDK may make a second attempt.
  expect(attempts.length).toBeLessThanOrEqual(2);
  expect(warn.mock.calls).toEqual([[expect.objectContaining({ event: "rate limiter failed open" })]]);
  expect(JSON.stringify(warn.mock.calls)).not.toContain("ada@example.com");
  attempts = [];
  vi.setSystemTime(start + 4999);
  expect((await take("hot")).granted).toBe(true);
  expect(attempts).toEqual([]);
  vi.setSystemTime(start + 5000);
  await take("hot");
  expect(attempts).not.toEqual([]);
});
