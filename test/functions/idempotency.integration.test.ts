import { expect, test, vi } from "vitest";
import { setConversationStatus } from "../../lib/ops/conversations/conversations-command.ts";
import { leadKey } from "../../shared/dynamodb/keys.ts";
import { table, takeUnits } from "../../shared/dynamodb/table-client.ts";
import { call } from "../support/call.ts";
import { aLead } from "../support/requests.ts";
import { sum } from "../support/statistics.ts";
import { remove } from "../support/table-items.ts";

const lead = { name: "Ada Lovelace", email: "ada@example.com", source: "website", tags: ["math"] };

const create = (account: string, key: string, body: object = lead) =>
  call("create-lead", { account, body, headers: { "idempotency-key": key } });

const send = (account: string, key: string, leadId: string, message = "Hello") =>
  call("send-message", {
    account,
    body: { leadId, channel: "whatsapp", message },
    headers: { "idempotency-key": key },
  });

const endConversation = (account: string, id: string) => setConversationStatus(account, id, "closed");

/** Of all accounts and routes: it is another key in each of them. */
const key = "key-1";

test("a retry returns the message after the conversation was closed and after the lead was deleted", async () => {
  const { id } = await aLead("later");
  const { body } = await send("later", key, id);
  await endConversation("later", body.conversationId);
  expect((await send("later", `"${key}"`, id)).body).toEqual(body);
  await remove(leadKey("later", id));
  expect((await send("later", key, id)).body).toEqual(body);
  expect((await send("later", key, id, "Another")).problem.code).toBe("idempotency_key_reused");
  for (const another of ["key-2", "KEY-1"])
    expect((await send("later", another, id)).problem.code).toBe("lead_not_found");
});

test("a key is remembered for 24 hours, and counts as new from then on, even before its record is deleted", async () => {
  const day = 24 * 3_600_000;
  const start = Math.floor(Date.now() / 1000) * 1000;
  vi.useFakeTimers({ toFake: ["Date"], now: start });
  const first = await create("expired", key);
  const { id } = first.body;
  const message = await send("expired", key, id);
  expect([first.status, message.status]).toEqual([201, 201]);
  await remove(leadKey("expired", id));

  vi.setSystemTime(start + day - 1);
  const inAnotherOrder = Object.fromEntries(Object.entries(lead).reverse());
  expect((await create("expired", key, inAnotherOrder)).body).toEqual(first.body);
  expect((await send("expired", key, id)).body).toEqual(message.body);

  vi.setSystemTime(start + day);
  expect((await send("expired", key, id)).problem.code).toBe("lead_not_found");
  const second = await create("expired", key, { name: "Grace Hopper" });
  expect([second.status, second.body.name]).toEqual([201, "Grace Hopper"]);
  expect((await create("expired", key, { name: "Grace Hopper" })).body).toEqual(second.body);
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
  const { id } = await aLead("cost");
  const plainMessage = () =>
    call("send-message", { account: "cost", body: { leadId: id, channel: "whatsapp", message: "Hello" } });
  const none = { calls: 0, read: 0, write: 0 };
  // A lead has its item and four index entries, a conversation one more, by activity, and the lock.
  expect(await cost(() => aLead("cost", lead))).toEqual({ ...none, calls: 1, write: 5 });
  expect(await cost(() => create("cost", "c-1"))).toEqual({ ...none, calls: 1, write: 5 + 1 + 2 });
  expect(await cost(plainMessage)).toEqual({ calls: 3, read: 2, write: 11 });
  // Of the indexes, a message writes that by activity: its conversation leaves one place and takes another.
  const joining = { calls: 3, read: 2, write: 4 + 2 };
  expect(await cost(plainMessage)).toEqual(joining);
  const { conversationId } = (await plainMessage()).body;
  for (const status of ["paused", "active"]) await setConversationStatus("cost", conversationId, status);
  // Those of the changes belong to no request.
  takeUnits();
  // The first message after a change removes what marks it.
  expect(await cost(plainMessage)).toEqual(joining);
  expect(await cost(() => send("cost", "c-1", id))).toEqual({ ...joining, write: 6 + 2 });
  // The call that fails on the existing record reports no cost, and there is no other.
  expect(await cost(() => create("cost", "c-1"))).toEqual(none);
  expect(await cost(() => send("cost", "c-1", id))).toEqual({ calls: 2, read: 2, write: 0 });
});
