import { beforeEach, describe, expect, test, vi } from "vitest";
import { handler } from "../../../functions/authorize.ts";
import { writeLimit } from "../../../lib/ops/accounts/accounts-settings.ts";
import { issueApiKey } from "../../../lib/ops/keys/api-key-changes.ts";
import { newApiKey } from "../../../shared/domain/api-key-format.ts";
import type { KeyRefusal } from "../../../shared/domain/api-keys.ts";
import { accountKey } from "../../../shared/dynamodb/keys.ts";
import { authorizerEvent } from "../../support/requests/events.ts";
import { WatchedTable } from "../../support/tables/watched-table.ts";

/** The item of an account, as an operator's commands stored it. */
const anAccount = (accountId = "acme") => ({
  ...accountKey(accountId),
  createdAt: "2026-01-01T00:00:00.000Z",
});

/** A key and its item, as an operator's command stored it. Python's hashlib computed the digest. */
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
const authorize = (authorization: string) => handler(authorizerEvent(authorization));
const past = "2026-01-01T00:00:00.000Z";
const denied = (reason: KeyRefusal) => ({ isAuthorized: false, context: { reason } });

describe("the authorizer", () => {
  test.each([
    ["Bearer ", "full"],
    ["bearer ", "read"],
    ["BEARER  ", "full"],
  ])("admits a stored key after %j, and passes on only its account, its id and its access %s", async (scheme, access) => {
    store({ ...issued.item, access, note: "internal", validUntil: "9999-01-01T00:00:00.000Z" });
    expect(await authorize(`${scheme}${issued.apiKey}`)).toEqual({
      isAuthorized: true,
      context: { accountId: "acme", keyId: issued.item.keyId, access },
    });
  });

  test.each<readonly [KeyRefusal, lines: number, fields: object]>([
    ...["FULL", "write"].map((access) => ["invalid", 0, { access }] as const),
    ...[undefined, "", null, 1, ["full"]].map((access) => ["invalid", 1, { access }] as const),
    ...["accountId", "keyId", "validUntil", "revokedAt"].map(
      (name) => ["invalid", 1, { [name]: 1 }] as const,
    ),
    ...["accountId", "validUntil"].map((name) => ["invalid", 1, { [name]: "" }] as const),
    ["invalid", 1, { keyId: "another" }],
    ["expired", 0, { validUntil: "2030-13-01T00:00:00.000Z" }],
    ["revoked", 0, { revokedAt: past, access: "write", validUntil: past }],
  ])("rejects a key as %s and logs %i items if its item has %j", async (reason, lines, fields) => {
    // Each test uses another key, because an environment logs only one item of a partition.
    const { apiKey, keyId: sk } = await issueApiKey("acme");
    const item = [...table.memory.items()].find((each) => each.sk === sk);
    store({ ...item, ...fields });
    table.calls = [];
    expect(await authorize(`Bearer ${apiKey}`)).toEqual(denied(reason));
    // The settings of the account are not read.
    expect(table.calls).toHaveLength(1);
    const line = expect.objectContaining({ event: "invalid item", sk });
    expect(logged.mock.calls).toEqual(Array(lines).fill([line]));
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

  test("rejects an unknown key after one consistent read, and a missing identity without a read", async () => {
    store(issued.item);
    expect(await authorize(`Bearer ${newApiKey(issued.item.keyId)}`)).toEqual(denied("unknown"));
    expect(table.calls).toMatchObject([{ name: "GetCommand", input: { ConsistentRead: true } }]);
    expect(await handler({ ...authorizerEvent(""), identitySource: [] })).toEqual(denied("not a key"));
    expect(table.calls).toHaveLength(1);
  });
});

test("a new key's record holds a digest, never the secret", async () => {
  const { apiKey, keyId } = await issueApiKey("acme", { label: "CI" });
  const [account, item, ...others] = [...table.memory.items()];
  expect(account).toEqual({ ...anAccount(), createdAt: item?.createdAt });
  expect(others).toEqual([]);
  expect(item).toEqual({
    ...issued.item,
    ...{ pk: expect.stringMatching(/^KEY#[0-9a-f]{64}$/), sk: keyId, keyId, label: "CI" },
    createdAt: expect.any(String),
  });
  for (const part of apiKey.split("_").slice(2)) expect(JSON.stringify(item)).not.toContain(part);
  expect(await authorize(`Bearer ${apiKey}`)).toMatchObject({ isAuthorized: true });
});

test("only the identity source decides, because API Gateway caches the result by it", async () => {
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

describe("the limit and the freeze of an account", () => {
  test("are passed on with each key of the account, for one more consistent read", async () => {
    const frozenAt = "2026-01-01T00:00:00.000Z";
    store({ ...anAccount(), requests: 250, frozenAt });
    const context = { rateLimitRequests: 250, frozenAt };
    for (let key = 0; key < 2; key++) {
      const { apiKey, keyId: sk } = await issueApiKey("acme");
      table.calls = [];
      expect(await authorize(`Bearer ${apiKey}`)).toMatchObject({ isAuthorized: true, context });
      const reads = [{ sk }, accountKey("acme")].map((Key) => ({ input: { Key, ConsistentRead: true } }));
      expect(table.calls).toMatchObject(reads);
    }
  });

  test("are not passed on if the account has the limit of the stage and is not frozen", async () => {
    for (const item of [issued.item, anAccount(), anAccount("other")]) store(item);
    await writeLimit("acme", 7);
    await writeLimit("acme", undefined);
    await writeLimit("other", 8);
    const context = { accountId: "acme", keyId: issued.item.keyId, access: "full" };
    expect(await authorize(`Bearer ${issued.apiKey}`)).toEqual({ isAuthorized: true, context });
  });

  const invalidLimits = ["7", 0, -1, 1.5, 100_000_001, null];
  test.each(
    invalidLimits,
  )("do not include the invalid limit %j, and the item is logged", async (requests) => {
    const accountId = `limit of ${requests}`;
    store({ ...issued.item, accountId });
    store({ ...anAccount(accountId), requests });
    expect((await authorize(`Bearer ${issued.apiKey}`)).context).not.toHaveProperty("rateLimitRequests");
    const line = { event: "invalid item", ...accountKey(accountId), field: "requests" };
    expect(logged).toHaveBeenCalledWith(line);
  });

  test.each(["soon", 1, null, {}])("include a freeze even if its time is invalid: %j", async (frozenAt) => {
    store(issued.item);
    store({ ...anAccount(), frozenAt });
    expect(await authorize(`Bearer ${issued.apiKey}`)).toMatchObject({
      context: { frozenAt: String(frozenAt) },
    });
  });

  test("make the authorizer fail if they cannot be read, so that nothing is cached", async () => {
    store(issued.item);
    table.before = (_, call) => {
      if (call > 1) throw new Error("ada@example.com");
    };
    await expect(authorize(`Bearer ${issued.apiKey}`)).rejects.toThrow(
      /^The function failed\. Its log says where\.$/,
    );
  });
});
