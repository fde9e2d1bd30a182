import { PutCommand } from "@aws-sdk/lib-dynamodb";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { writeLimit } from "../../lib/ops/accounts/account-limit.ts";
import { endApiKey, issueApiKey } from "../../lib/ops/keys/api-key-changes.ts";
import { newApiKey } from "../../shared/domain/api-key-format.ts";
import { rateLimiter } from "../../shared/domain/rate-limiter.ts";
import { accountLimitKey } from "../../shared/dynamodb/keys.ts";
import { table, tableName } from "../../shared/dynamodb/table-client.ts";
import { authorizerEvent } from "../support/events.ts";
import { installMeter, metered } from "../support/meter.ts";

// The authorizer reads these when it is loaded.
process.env.RATE_LIMIT_REQUESTS = "100";
process.env.RATE_LIMIT_SECONDS = "60";
const { handler } = await import("../../functions/authorize.ts");

installMeter();

interface KeyInput {
  readonly Key?: { readonly pk: string };
}

afterEach(() => {
  vi.useRealTimers();
  vi.unstubAllEnvs();
  vi.restoreAllMocks();
});

describe("the authorizer", () => {
  const authorize = (apiKey: string, authorizer = handler) => authorizer(authorizerEvent(`Bearer ${apiKey}`));
  const issueKey = async (account: string) => (await issueApiKey(account)).apiKey;

  /** The types of the items that are read by a client. */
  function watchReads(client: typeof table) {
    const send = vi.spyOn(client, "send");
    return () => send.mock.calls.map(([{ input }]) => String((input as KeyInput).Key?.pk).split("#")[0]);
  }

  test("passes on an account's own limit, for one unit besides that of the key, to each of its keys", async () => {
    await writeLimit({ account: "own", requests: 250 });
    for (let key = 0; key < 2; key++) {
      const apiKey = await issueKey("own");
      const { result, calls } = await metered(() => authorize(apiKey));
      expect(result).toMatchObject({ context: { accountId: "own", rateLimitRequests: 250 } });
      expect(calls.map(({ read, write }) => [read, write])).toEqual([
        [1, 0],
        [1, 0],
      ]);
    }
  });

  test("passes none on for an account that has the limit of its stage", async () => {
    await writeLimit({ account: "owned", requests: 7 });
    await writeLimit({ account: "owned", requests: null });
    for (const account of ["owned", "usual"]) {
      const context = { accountId: account, keyId: expect.any(String), access: "full" };
      expect(await authorize(await issueKey(account))).toEqual({ isAuthorized: true, context });
    }
  });

  test.each([
    "7",
    0,
    -1,
    1.5,
    null,
  ])("passes none on for a limit of %j, and logs the item", async (requests) => {
    const account = `malformed ${requests}`;
    await table.send(
      new PutCommand({ TableName: tableName, Item: { ...accountLimitKey(account), requests } }),
    );
    const logged = vi.spyOn(console, "error").mockReturnValue();
    const { context } = (await authorize(await issueKey(account))) as { context: object };
    expect(context).not.toHaveProperty("rateLimitRequests");
    const line = { event: "malformed item", ...accountLimitKey(account), field: "requests" };
    expect(logged).toHaveBeenCalledWith(line);
  });

  test("reads none on a stage without a rate limit", async () => {
    await writeLimit({ account: "unlimited", requests: 250 });
    const apiKey = await issueKey("unlimited");
    vi.stubEnv("RATE_LIMIT_REQUESTS", undefined);
    vi.resetModules();
    const { handler: unlimited } = await import("../../functions/authorize.ts");
    const reads = watchReads((await import("../../shared/dynamodb/table-client.ts")).table);
    expect(JSON.stringify(await authorize(apiKey, unlimited))).not.toContain("rateLimit");
    expect(reads()).toEqual(["KEY"]);
  });

  test("reads none for a revoked or an unknown key", async () => {
    await writeLimit({ account: "revoked", requests: 250 });
    const { apiKey, keyId } = await issueApiKey("revoked");
    await endApiKey({ account: "revoked", keyId }, { revokedAt: new Date().toISOString() });
    const reads = watchReads(table);
    for (const key of [apiKey, newApiKey(keyId)])
      expect(await authorize(key)).toEqual({ isAuthorized: false });
    expect(reads()).toEqual(["KEY", "KEY"]);
  });

  test("fails if the limit cannot be read, so that nothing is cached", async () => {
    vi.spyOn(console, "error").mockImplementation(() => {});
    const apiKey = await issueKey("unread");
    const { send } = table;
    vi.spyOn(table, "send").mockImplementation(((command: { input: KeyInput }) =>
      String(command.input.Key?.pk).startsWith("LIMIT#")
        ? Promise.reject(new Error("ada@example.com"))
        : Reflect.apply(send, table, [command])) as never);
    await expect(authorize(apiKey)).rejects.toThrow(/^(?!.*ada@example\.com)/);
  });
});

describe("the limiter", () => {
  /** Early in a window, so that no test reaches the next one by accident. */
  const now = Math.ceil(Date.now() / 60_000) * 60_000 + 1000;
  beforeEach(() => {
    vi.useFakeTimers({ now, toFake: ["Date"] });
  });

  type Take = ReturnType<typeof rateLimiter>;

  const large = { requests: 6000, seconds: 60 };

  /** Its calls may take longer than any does on a busy machine. */
  const environment = () => rateLimiter({ requests: 100, seconds: 60 }, 30_000);

  /** Makes requests in all environments until they reject them. @returns how many were granted */
  async function useUp(takes: readonly Take[], account: string, requests?: number): Promise<number> {
    for (let granted = 0; ; ) {
      const permits = await Promise.all(takes.map((take) => take(account, requests)));
      const now = permits.filter((permit) => permit.granted).length;
      granted += now;
      if (now === 0) return granted;
    }
  }

  test.each([
    ["above", 250],
    ["below", 30],
    ["far below", 1],
  ])("grants an account with a limit %s the stage's exactly it, from one environment or many", async (...args) => {
    const [place, requests] = args;
    for (const count of [1, 12]) {
      const account = `${place}-${count}`;
      const takes = Array.from({ length: count }, environment);
      expect(await useUp(takes, account, requests)).toBe(requests);
      expect(await takes[0]?.(account, requests)).toEqual({
        ...{ granted: false, requests, remaining: 0, reset: 59 },
      });
      expect(await useUp([environment()], account, requests)).toBe(0);
    }
  });

  test("grants another account the limit of the stage", async () => {
    const take = environment();
    await take("large", 250);
    expect(await useUp([take], "usual")).toBe(100);
  });

  test("grants what a higher limit adds in the same window, to a refused account too", async () => {
    const take = environment();
    expect(await useUp([take], "raised", 20)).toBe(20);
    expect(await take("raised", 20)).toMatchObject({ granted: false, requests: 20, remaining: 0 });
    expect(await useUp([take], "raised", 50)).toBe(30);
  });

  test("grants what it has leased below a lower limit, and no more", async () => {
    const [take, other] = [rateLimiter(large, 30_000), rateLimiter(large, 30_000)];
    // Leases of 1, 2, 4 and 8.
    for (let n = 0; n < 8; n++) expect((await take("lowered")).granted).toBe(true);
    expect(await useUp([take], "lowered", 10)).toBe(7);
    expect(await take("lowered", 10)).toMatchObject({ granted: false, requests: 10, remaining: 0 });
    expect(await other("lowered", 10)).toMatchObject({ granted: false, requests: 10, remaining: 0 });
  });

  test("grants the higher limit, and no more, when keys have different ones", async () => {
    const take = environment();
    let granted = 0;
    for (let n = 0; n < 400; n++) if ((await take("mixed", n % 2 === 0 ? 30 : 60)).granted) granted++;
    expect(granted).toBe(60);
    expect(await take("mixed", 30)).toEqual({ granted: false, requests: 30, remaining: 0, reset: 59 });
  });
});
