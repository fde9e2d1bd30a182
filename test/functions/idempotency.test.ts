import { beforeEach, expect, test, vi } from "vitest";
import { setConversationStatus } from "../../lib/ops/conversations/conversations-command.ts";
import { leadKey } from "../../shared/dynamodb/keys.ts";
import { call } from "../support/call.ts";
import { useMemoryTable } from "../support/memory-leads.ts";
import type { MemoryTable } from "../support/memory-table.ts";
import { aLead } from "../support/requests.ts";

let memory: MemoryTable;
beforeEach(() => {
  memory = useMemoryTable();
});

const lead = { name: "Ada Lovelace", email: "ada@example.com", source: "website", tags: ["math"] };

const create = (account: string, key: string, body: object = lead) =>
  call("create-lead", { account, body, headers: { "idempotency-key": key } });

const send = (account: string, key: string, leadId: string, message = "Hello") =>
  call("send-message", {
    account,
    body: { leadId, channel: "whatsapp", message },
    headers: { "idempotency-key": key },
  });

/** Of all accounts and routes: it is another key in each of them. */
const key = "key-1";

test("a retry returns the message after the conversation was closed and after the lead was deleted", async () => {
  const { id } = await aLead("later");
  const { body } = await send("later", key, id);
  await setConversationStatus("later", body.conversationId, "closed");
  expect((await send("later", `"${key}"`, id)).body).toEqual(body);
  memory.delete(leadKey("later", id));
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
  memory.delete(leadKey("expired", id));

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

test("the same body with and without ifExists are two requests", async () => {
  const request = { body: { name: "Ada", externalId: "crm-1" }, headers: { "idempotency-key": key } };
  expect((await call("create-lead", request)).status).toBe(201);
  expect((await call("create-lead", { ...request, query: "ifExists=update" })).status).toBe(422);
});
