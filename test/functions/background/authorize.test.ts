import { beforeEach, describe, expect, test, vi } from "vitest";
import { issueApiKey } from "../../../lib/ops/keys/api-key-changes.ts";
import { newApiKey } from "../../../shared/domain/api-key-format.ts";
import type { KeyRefusal } from "../../../shared/domain/api-keys.ts";
import { accountLimitKey, frozenKey } from "../../../shared/dynamodb/keys.ts";
import { authorizerEvent } from "../../support/requests/events.ts";
import { WatchedTable } from "../../support/tables/watched-table.ts";

// The authorizer reads these when it is loaded.
vi.stubEnv("RATE_LIMIT_REQUESTS", "100");
vi.stubEnv("RATE_LIMIT_SECONDS", "60");
const { handler } = await import("../../../functions/authorize.ts");
const { writeLimit } = await import("../../../lib/ops/accounts/accounts-settings.ts");

/** A key and its item, as an operator's command stored it. The digest is by Python's hashlib. */
const issued = {
  apiKey: `lck_01JZ0000000000000000000000_${"0".repeat(27)}_2HQhI7`,
  item: {
    pk: "KEY#2aee1f2d431cf09fdc5573b537d8b01902ee336464b8b67382568105033ee965",
    sk: "01JZ0000000000000000000000",
    byParent: "KEY#acme",
    keyId: "01JZ0000000000000000000000",
    accountId: "acme",
    access: "full",
    createdAt: "2026-01-01T00:00:00.000Z",
  },
};

let table: WatchedTable;
let logged = vi.spyOn(console, "error");
beforeEach(() => {
  table = new WatchedTable();
  logged = vi.spyOn(console, "error").mockImplementation(() => {});
});

const store = (item: Record<string, unknown>) => table.memory.put(item);
const authorize = (authorization: string, authorizer = handler) => authorizer(authorizerEvent(authorization));
const past = "2026-01-01T00:00:00.000Z";
const denied = (reason: KeyRefusal) => ({ isAuthorized: false, context: { reason } });

describe("the authorizer", () => {
  test.each([
    ["Bearer ", "full"],
    ["bearer ", "read"],
    ["BEARER  ", "full"],
  ])("admits a stored key after %j, and passes on its access %s, and nothing else", async (scheme, access) => {
    store({ ...issued.item, access, note: "internal", validUntil: "9999-01-01T00:00:00.000Z" });
    expect(await authorize(`${scheme}${issued.apiKey}`)).toEqual({
      isAuthorized: true,
      context: { accountId: "acme", keyId: issued.item.keyId, access },
    });
  });

  test.each<[KeyRefusal, object]>([
    ...[undefined, "", "FULL", "write", null, 1, ["full"]].map((access): [KeyRefusal, object] => [
      "invalid",
      { access },
    ]),
    ["invalid", { validUntil: "" }],
    ["expired", { validUntil: "2030-13-01T00:00:00.000Z" }],
    ["revoked", { revokedAt: past, access: "write", validUntil: past }],
  ])("rejects a key as %s with %j", async (reason, fields) => {
    store({ ...issued.item, ...fields });
    expect(await authorize(`Bearer ${issued.apiKey}`)).toEqual(denied(reason));
  });

  test.each<[string, unknown]>([
    ...["accountId", "keyId", "validUntil", "revokedAt"].map((name): [string, unknown] => [name, 1]),
    ["accountId", ""],
    ["keyId", "another"],
  ])("rejects a key with the %s %j, and logs the item", async (name, value) => {
    // Another key in each test: an environment logs one item of a partition.
    const { apiKey, keyId: sk } = await issueApiKey("acme");
    const [item] = table.memory.items();
    store({ ...item, [name]: value });
    expect(await authorize(`Bearer ${apiKey}`)).toEqual(denied("invalid"));
    expect(logged.mock.calls).toEqual([[expect.objectContaining({ event: "invalid item", sk })]]);
  });

  test("rejects a key from the moment it expires", async () => {
    const validUntil = "2026-02-01T00:00:00.000Z";
    store({ ...issued.item, validUntil });
    for (const [after, result] of [
      [-1, { isAuthorized: true }],
      [0, denied("expired")],
    ] as const) {
      vi.spyOn(Date, "now").mockReturnValue(Date.parse(validUntil) + after);
      expect(await authorize(`Bearer ${issued.apiKey}`)).toMatchObject(result);
    }
  });

  test.each<[string, KeyRefusal]>([
    ["", "not a key"],
    [issued.apiKey, "not a key"],
    [`Basic ${issued.apiKey}`, "not a key"],
    [`Bearer${issued.apiKey}`, "not a key"],
    [`Bearer ${issued.apiKey}x`, "mistyped"],
    [`Bearer ${issued.apiKey},Bearer ${issued.apiKey}`, "not a key"],
    [`Bearer ${issued.apiKey} ${issued.apiKey}`, "not a key"],
    [`Bearer ${issued.apiKey.slice(0, -1)}`, "mistyped"],
    [`Bearer ${issued.apiKey.replace("lck", "LCK")}`, "not a key"],
    ["Bearer null", "not a key"],
  ])("rejects %j without a read", async (authorization, reason) => {
    store(issued.item);
    expect(await authorize(authorization)).toEqual(denied(reason));
    expect(table.calls).toEqual([]);
  });

  test("rejects an unknown key, and no identity, with one consistent read at the most", async () => {
    store(issued.item);
    expect(await authorize(`Bearer ${newApiKey(issued.item.keyId)}`)).toEqual(denied("unknown"));
    expect(table.calls).toMatchObject([{ name: "GetCommand", input: { ConsistentRead: true } }]);
    expect(await handler({ ...authorizerEvent(""), identitySource: [] })).toEqual(denied("not a key"));
    expect(table.calls).toHaveLength(1);
  });
});

test("a new key's record holds a digest, never the secret", async () => {
  const { apiKey, keyId } = await issueApiKey("acme", { label: "CI" });
  const [item, ...others] = [...table.memory.items()];
  expect(others).toEqual([]);
  expect(item).toEqual({
    ...issued.item,
    ...{ pk: expect.stringMatching(/^KEY#[0-9a-f]{64}$/), sk: keyId, keyId, label: "CI" },
    createdAt: expect.any(String),
  });
  for (const part of apiKey.split("_").slice(2)) expect(JSON.stringify(item)).not.toContain(part);
  expect(await authorize(`Bearer ${apiKey}`)).toMatchObject({ isAuthorized: true });
});

test("only the identity source decides, by which API Gateway caches the result", async () => {
  store(issued.item);
  const [live, bad] = [`Bearer ${issued.apiKey}`, "Bearer bad"];
  const others = {
    identitySource: [bad, live],
    headers: { authorization: live, "x-api-key": issued.apiKey },
    cookies: [`authorization=${live}`],
    queryStringParameters: { authorization: live },
  };
  expect(await handler({ ...authorizerEvent(bad), ...others })).toEqual(denied("not a key"));
  const event = { ...authorizerEvent(live), headers: { authorization: bad } };
  expect(await handler(event)).toMatchObject({ isAuthorized: true });
});

describe("the limit of an account", () => {
  const reads = () => table.calls.map(({ input }) => String((input.Key as { pk: string }).pk).split("#")[0]);

  test("is passed on with each of its keys, for one more read, consistent as well", async () => {
    await writeLimit("acme", 250);
    for (let key = 0; key < 2; key++) {
      const { apiKey } = await issueApiKey("acme");
      table.calls = [];
      expect(await authorize(`Bearer ${apiKey}`)).toMatchObject({ context: { rateLimitRequests: 250 } });
      expect(reads()).toEqual(["KEY", "FROZEN", "LIMIT"]);
      for (const { input } of table.calls) expect(input.ConsistentRead).toBe(true);
    }
  });

  test("is passed on with the time since which the account is frozen", async () => {
    const frozenAt = "2026-01-01T00:00:00.000Z";
    store({ ...issued.item });
    store({ ...frozenKey("acme"), frozenAt });
    await writeLimit("acme", 250);
    const context = { frozenAt, rateLimitRequests: 250 };
    expect(await authorize(`Bearer ${issued.apiKey}`)).toMatchObject({ isAuthorized: true, context });
  });

  test("is not passed on if it is that of the stage", async () => {
    store(issued.item);
    await writeLimit("acme", 7);
    await writeLimit("acme", null);
    await writeLimit("other", 8);
    expect(JSON.stringify(await authorize(`Bearer ${issued.apiKey}`))).not.toContain("rateLimit");
  });

  test.each([
    "7",
    0,
    -1,
    1.5,
    null,
  ])("passes none on for a limit of %j, and logs the item", async (requests) => {
    const accountId = `limit of ${requests}`;
    store({ ...issued.item, accountId });
    store({ ...accountLimitKey(accountId), requests });
    const { context } = (await authorize(`Bearer ${issued.apiKey}`)) as { context: object };
    expect(context).not.toHaveProperty("rateLimitRequests");
    const line = { event: "invalid item", ...accountLimitKey(accountId), field: "requests" };
    expect(logged).toHaveBeenCalledWith(line);
  });

  test("is not read for a key that is revoked", async () => {
    store({ ...issued.item, revokedAt: past });
    expect(await authorize(`Bearer ${issued.apiKey}`)).toEqual(denied("revoked"));
    expect(reads()).toEqual(["KEY"]);
  });

  test("is not read on a stage without a rate limit", async () => {
    vi.stubEnv("RATE_LIMIT_REQUESTS", undefined);
    vi.resetModules();
    const unlimited = await import("../../../functions/authorize.ts");
    const { WatchedTable } = await import("../../support/tables/watched-table.ts");
    table = new WatchedTable();
    store(issued.item);
    expect(await authorize(`Bearer ${issued.apiKey}`, unlimited.handler)).toMatchObject({
      isAuthorized: true,
    });
    expect(reads()).toEqual(["KEY", "FROZEN"]);
  });

  test("makes the authorizer fail if it cannot be read, so that nothing is cached", async () => {
    store(issued.item);
    table.before = (_, call) => {
      if (call > 1) throw new Error("ada@example.com");
    };
    await expect(authorize(`Bearer ${issued.apiKey}`)).rejects.toThrow(
      /^The function failed\. Its log says where\.$/,
    );
  });
});
