import { setTimeout } from "node:timers/promises";
import { afterAll, afterEach, describe, expect, test } from "vitest";
import { cancellation } from "./aws-errors.ts";
import { checkConversations } from "./conversation-check.ts";
import { type Exchange, pass } from "./exchange.ts";
import { startFaultyApi } from "./faulty-api.ts";

const { table, stored } = await startFaultyApi();
afterEach(() => {
  table.handle = pass;
});
afterAll(() => table.close());
// Imported here because the client reads its endpoint from the environment.
const { call } = await import("../support/call.ts");
const { aLead, aMessage } = await import("../support/requests.ts");

const isWrite = ({ operation }: Exchange) => operation === "PutItem" || operation === "TransactWriteItems";

/** Delays the first writes by this many milliseconds. @returns a promise that resolves when they took effect */
function holdFirst(writes: number, milliseconds: number): Promise<unknown> {
  const held: Promise<unknown>[] = [];
  const { promise, resolve } = Promise.withResolvers<void>();
  table.handle = async (exchange) => {
    if (!isWrite(exchange) || held.length === writes) return pass(exchange);
    held.push(setTimeout(milliseconds).then(() => exchange.forward()));
    if (held.length === writes) resolve();
    await held.at(-1);
  };
  return promise.then(() => Promise.all(held));
}

const withKey = (key: string) => ({ headers: { "idempotency-key": key } });

describe("a write whose first attempt takes effect after its timeout", () => {
  test("creates one lead", async () => {
    const landed = holdFirst(1, 1300);
    const { body, status } = await call("create-lead", { account: "late-lead", body: { name: "Ada" } });
    await landed;
    expect(status).toBe(201);
    expect((await stored("late-lead")).leads).toMatchObject([{ id: body.id }]);
  });

  test.each(["starts", "joins"])("sends one message, which %s a conversation", async (does) => {
    const account = `late-${does}`;
    const { id: leadId } = await aLead(account);
    if (does === "joins") await aMessage(account, leadId);
    const landed = holdFirst(1, 1300);
    const { body } = await call("send-message", {
      account,
      body: { leadId, channel: "whatsapp", message: "Late" },
    });
    await landed;
    const { messages, conversations } = await stored(account);
    expect(messages.filter(({ message }) => message === "Late")).toMatchObject([{ id: body.id }]);
    expect(conversations).toMatchObject([{ messageCount: does === "joins" ? 2 : 1 }]);
  });

  test.each([
    ["a conflict", (items: number) => cancellation("TransactionConflict", items, 0)],
    ["throttling", (items: number) => cancellation("ThrottlingError", items, 0)],
  ])("is not sent twice when its second attempt meets %s, with an Idempotency-Key or without", async (does, response) => {
    for (const key of ["", "m-1"]) {
      const account = `${does} ${key}`;
      const { id: leadId } = await aLead(account);
      const body = { leadId, channel: "sms", message: "Hello" };
      const landed: Promise<unknown>[] = [];
      let writes = 0;
      table.handle = async (exchange) => {
        if (isWrite(exchange)) writes += 1;
        if (!isWrite(exchange) || writes > 2) return pass(exchange);
        if (writes === 2) return exchange.reply(response(exchange.input.TransactItems?.length ?? 0));
        landed.push(setTimeout(1300).then(() => exchange.forward()));
      };
      const { status } = await call("send-message", { account, body, ...(key && withKey(key)) });
      await Promise.all(landed);
      expect(status).toBe(key ? 201 : 503);
      expect((await stored(account)).messages).toHaveLength(1);
    }
  });

  // The client retries after the attempts have taken effect, or before.
  test.each([
    1300, 2600,
  ])("is made once for a client that retries when both attempts are %i ms late", async (late) => {
    const account = `late-twice-${late}`;
    const { id: leadId } = await aLead(account);
    for (const [name, body] of [
      ["create-lead", { name: "Late" }],
      ["send-message", { leadId, channel: "whatsapp", message: "Late" }],
    ] as const) {
      const landed = holdFirst(2, late);
      const request = { account, body, ...withKey(`late-${late}`) };
      const first = await call(name, request);
      expect([first.status, first.problem.code]).toEqual([503, "busy"]);
      expect(first.headers["retry-after"]).toMatch(/^[123]$/);
      expect((await call(name, request)).status).toBe(201);
      await landed;
    }
    const { leads, messages, conversations } = await stored(account);
    expect(leads.filter(({ name }) => name === "Late")).toHaveLength(1);
    expect(messages).toHaveLength(1);
    expect(conversations).toMatchObject([{ messageCount: 1 }]);
  });
});

test("a message whose write is in progress when the function's time is used up gets 503, and is stored completely or not at all", async () => {
  const account = "under-way";
  const { id: leadId } = await aLead(account);
  const landed = holdFirst(1, 1300);
  const body = { leadId, channel: "whatsapp", message: "Hello" };
  const start = Date.now();
  const { status, headers, problem } = await call("send-message", { account, body, ...withKey("m") }, 1200);
  expect(Date.now() - start).toBeLessThan(1200);
  expect([status, problem.code]).toEqual([503, "busy"]);
  expect(headers["retry-after"]).toMatch(/^[123]$/);
  await landed;
  const all = await stored(account);
  expect(all.messages).toHaveLength(1);
  expect(checkConversations(all)).toEqual([]);
});
