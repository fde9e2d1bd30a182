import { DeleteCommand, QueryCommand } from "@aws-sdk/lib-dynamodb";
import { describe, expect, onTestFinished, test, vi } from "vitest";
import { setConversationStatus } from "../../lib/ops/conversations/conversation-status.ts";
import { leadKey, messageKey } from "../../shared/dynamodb/keys.ts";
import { table, tableName, takeUnits } from "../../shared/dynamodb/table-client.ts";
import { call } from "../support/call.ts";
import { aLead } from "../support/requests.ts";
import { sum } from "../support/statistics.ts";

const lead = { name: "Ada Lovelace", email: "ada@example.com", source: "website", tags: ["math"] };

const create = (account: string, key: string, body: object = lead) =>
  call("create-lead", { account, body, headers: { "idempotency-key": key } });

const send = (account: string, key: string, leadId: string, message = "Hello") =>
  call("send-message", {
    account,
    body: { leadId, channel: "whatsapp", message },
    headers: { "idempotency-key": key },
  });

async function leadCount(account: string): Promise<number> {
  return (await call("list-leads", { account })).body.pagination.total;
}

async function messageCount(account: string, conversationId: string): Promise<number> {
  const { Count = 0 } = await table.send(
    new QueryCommand({
      TableName: tableName,
      KeyConditionExpression: "pk = :pk",
      ExpressionAttributeValues: { ":pk": messageKey(account, conversationId, "").pk },
    }),
  );
  return Count;
}

const endConversation = (account: string, id: string) =>
  setConversationStatus(account, id, "closed", Date.now() + 10_000);

describe("a retry with the same Idempotency-Key", () => {
  test("creates one lead and returns it again", async () => {
    const first = await create("again", "a-1");
    const second = await create("again", "a-1");
    expect(first.status).toBe(201);
    expect(first.headers).not.toHaveProperty("idempotency-replayed");
    expect(second).toEqual({
      ...first,
      headers: { ...first.headers, "idempotency-replayed": "true" },
    });
    expect(await leadCount("again")).toBe(1);
  });

  test("sends one message and returns it again", async () => {
    const { id } = await aLead("once");
    const first = await send("once", "m-1", id);
    const joined = await send("once", "m-2", id, "And again");
    for (const [key, text, { body }] of [
      ["m-1", "Hello", first],
      ["m-2", "And again", joined],
    ] as const) {
      const again = await send("once", key, id, text);
      expect([again.status, again.headers["idempotency-replayed"]]).toEqual([201, "true"]);
      expect(again.body).toEqual(body);
    }
    expect(joined.headers).not.toHaveProperty("idempotency-replayed");
    expect(await messageCount("once", first.body.conversationId)).toBe(2);
    expect((await call("list-conversations", { account: "once" })).body.data).toMatchObject([
      { id: first.body.conversationId, messageCount: 2 },
    ]);
  });

  test.each([
    '"o-1"',
    " o-1 ",
    ' "o-1"\t',
  ])("may have its fields in another order and its key as %j", async (key) => {
    const { tags, source, email, name } = lead;
    const { body } = await create("order", "o-1");
    const again = await create("order", key, { tags, source, email, name });
    expect(again.headers["idempotency-replayed"]).toBe("true");
    expect(again.body).toEqual(body);
  });

  test("takes effect once when many are sent at the same time", async () => {
    const { id } = await aLead("twins");
    const leads = await Promise.all(Array.from({ length: 20 }, () => create("twins", "t-1")));
    const messages = await Promise.all(Array.from({ length: 20 }, () => send("twins", "t-1", id)));
    for (const responses of [leads, messages]) {
      expect(responses.map(({ status }) => status)).toEqual(responses.map(() => 201));
      expect(new Set(responses.map(({ body }) => JSON.stringify(body))).size).toBe(1);
      expect(responses.filter(({ headers }) => "idempotency-replayed" in headers)).toHaveLength(19);
    }
    expect(await leadCount("twins")).toBe(2);
    expect(await messageCount("twins", messages[0]?.body.conversationId ?? "")).toBe(1);
  });

  test("returns the message after the conversation was closed and after the lead was deleted", async () => {
    const { id } = await aLead("later");
    const { body } = await send("later", "l-1", id);
    await endConversation("later", body.conversationId);
    expect((await send("later", "l-1", id)).body).toEqual(body);
    await table.send(new DeleteCommand({ TableName: tableName, Key: leadKey("later", id) }));
    expect((await send("later", "l-1", id)).body).toEqual(body);
    expect((await send("later", "l-1", id, "Another")).problem.code).toBe("idempotency_key_reused");
    expect((await send("later", "l-2", id)).problem.code).toBe("lead_not_found");
  });
});

describe("an Idempotency-Key", () => {
  test("is rejected with another body, and nothing is written", async () => {
    const { id } = await aLead("other");
    await create("other", "k-1");
    await send("other", "k-1", id);
    for (const { status, problem } of [
      await create("other", "k-1", { ...lead, name: "Grace Hopper" }),
      await create("other", "k-1", { name: lead.name }),
      await send("other", "k-1", id, "Good bye"),
    ]) {
      expect(status).toBe(422);
      expect(problem).toMatchObject({ status: 422, code: "idempotency_key_reused" });
      expect(problem.detail).toContain("Idempotency-Key");
    }
    expect(await leadCount("other")).toBe(2);
  });

  test("belongs to one account and one route", async () => {
    const mine = await create("mine", "shared-key");
    const theirs = await create("theirs", "shared-key");
    const message = await send("mine", "shared-key", mine.body.id);
    for (const { status, headers } of [theirs, message]) {
      expect(status).toBe(201);
      expect(headers).not.toHaveProperty("idempotency-replayed");
    }
    expect(theirs.body.id).not.toBe(mine.body.id);
  });

  test("is case-sensitive and may hold unusual characters", async () => {
    const keys = ["k", "K", '"k k"', "k%20k", '"k\\"k"', '"k,k"', "k#k", "~".repeat(255)];
    for (const key of keys) expect((await create("odd", key)).status).toBe(201);
    expect(await leadCount("odd")).toBe(keys.length);
  });

  test("can be used again after its request was rejected", async () => {
    const { id } = await aLead("refused");
    expect((await send("refused", "r-1", "lead_unknown")).status).toBe(404);
    expect((await create("refused", "r-1", { name: "" })).status).toBe(400);
    expect((await send("refused", "r-1", id)).status).toBe(201);
    expect((await create("refused", "r-1")).status).toBe(201);
  });

  test("is remembered for 24 hours, and counts as new from then on, even before its record is deleted", async () => {
    const day = 24 * 3_600_000;
    const start = Math.floor(Date.now() / 1000) * 1000;
    vi.useFakeTimers({ toFake: ["Date"], now: start });
    onTestFinished(() => void vi.useRealTimers());
    const first = await create("expired", "e-1");
    const { id } = first.body;
    const message = await send("expired", "e-1", id);
    await table.send(new DeleteCommand({ TableName: tableName, Key: leadKey("expired", id) }));

    vi.setSystemTime(start + day - 1);
    expect((await create("expired", "e-1")).body).toEqual(first.body);
    expect((await send("expired", "e-1", id)).body).toEqual(message.body);

    vi.setSystemTime(start + day);
    expect((await send("expired", "e-1", id)).problem.code).toBe("lead_not_found");
    const second = await create("expired", "e-1", { name: "Grace Hopper" });
    expect([second.status, second.body.name]).toEqual([201, "Grace Hopper"]);
    expect((await create("expired", "e-1", { name: "Grace Hopper" })).body).toEqual(second.body);
  });

  test.each([
    ["empty", ""],
    ["blank", "  "],
    ["an empty string", '""'],
    ["256 characters long", "k".repeat(256)],
    ["256 characters long, quoted", `"${"k".repeat(256)}"`],
    ["a header sent twice", "a,b"],
    ["a quoted header sent twice", '"a","b"'],
    ["half quoted", '"a'],
    ["with a space", "a b"],
    ["with a backslash", "a\\b"],
    ["with an unknown escape", '"a\\b"'],
    ["not ASCII", "é"],
    ["with a control character", '"a\tb"'],
    ["with parameters", '"a";b=1'],
  ])("that is %s is rejected", async (_, key) => {
    const { status, problem } = await create("faulty", key);
    expect(status).toBe(400);
    expect(problem.errors).toEqual([
      {
        in: "header",
        field: "idempotency-key",
        code: "invalid_format",
        message: expect.stringContaining("1 to 255"),
      },
    ]);
    expect(await leadCount("faulty")).toBe(0);
  });

  test("is ignored by a list", async () => {
    expect((await call("list-leads", { headers: { "idempotency-key": "a b" } })).status).toBe(200);
  });
});

test("an Idempotency-Key costs its record and the price of a transaction, and no read", async () => {
  let calls: { readonly isRead: boolean; readonly units: number }[] = [];
  const meter = { step: "initialize", name: "meter", priority: "high" } as const;
  table.middlewareStack.add(
    (next, { commandName = "" }) =>
      async (args) => {
        Object.assign(args.input, { ReturnConsumedCapacity: "TOTAL" });
        const result = await next(args);
        const { ConsumedCapacity = [] } = result.output as {
          readonly ConsumedCapacity?: { readonly CapacityUnits?: number }[];
        };
        const units = sum([ConsumedCapacity].flat().map(({ CapacityUnits = 0 }) => CapacityUnits));
        calls.push({ isRead: /^(?:BatchGet|Get|Query)/.test(commandName), units });
        return result;
      },
    meter,
  );
  const cost = async (run: () => Promise<unknown>) => {
    calls = [];
    await run();
    const unitsOf = (isRead: boolean) =>
      sum(calls.filter((call) => call.isRead === isRead).map(({ units }) => units));
    const [read, write] = [unitsOf(true), unitsOf(false)];
    // The request's log line has them, and no other request's.
    expect(logged.mock.lastCall).toMatchObject([{ event: "request", reads: read, writes: write }]);
    return { calls: calls.length, read, write };
  };
  const logged = vi.spyOn(console, "info").mockImplementation(() => {});
  onTestFinished(() => logged.mockRestore());
  const { id } = await aLead("cost");
  const plainMessage = () =>
    call("send-message", { account: "cost", body: { leadId: id, channel: "whatsapp", message: "Hello" } });
  const none = { calls: 0, read: 0, write: 0 };
  // A lead has its item and four index entries, a conversation the same and the pointer.
  expect(await cost(() => aLead("cost", lead))).toEqual({ ...none, calls: 1, write: 5 });
  expect(await cost(() => create("cost", "c-1"))).toEqual({ ...none, calls: 1, write: 5 + 1 + 2 });
  expect(await cost(plainMessage)).toEqual({ calls: 3, read: 2, write: 10 });
  expect(await cost(plainMessage)).toEqual({ calls: 3, read: 2, write: 8 });
  const { conversationId } = (await plainMessage()).body;
  for (const status of ["paused", "active"])
    await setConversationStatus("cost", conversationId, status, Date.now() + 10_000);
  // Those of the changes belong to no request.
  takeUnits();
  // The first message after a change removes what marks it.
  expect(await cost(plainMessage)).toEqual({ calls: 3, read: 2, write: 8 });
  expect(await cost(() => send("cost", "c-1", id))).toEqual({ calls: 3, read: 2, write: 8 + 2 });
  // The call that fails on the existing record reports no cost, and there is no other.
  expect(await cost(() => create("cost", "c-1"))).toEqual(none);
  expect(await cost(() => send("cost", "c-1", id))).toEqual({ calls: 2, read: 2, write: 0 });
});
