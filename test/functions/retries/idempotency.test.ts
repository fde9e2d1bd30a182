import { expect, test, vi } from "vitest";
import { leadKey } from "../../../shared/dynamodb/keys.ts";
import { stopClock } from "../../support/cases/virtual-time.ts";
import { call } from "../../support/requests/call.ts";
import { aLead, aMessage, report, setStatus } from "../../support/requests/requests.ts";
import { useTable } from "../../support/tables/watched-table.ts";

const { memory } = useTable();

const lead = { name: "Ada Lovelace", email: "ada@example.com", source: "website", tags: ["math"] };

const create = (account: string, key: string, body: object = lead) =>
  call("create-lead", { account, body, headers: { "idempotency-key": key } });

const send = (account: string, key: string, leadId: string, message = "Hello") =>
  call("send-message", {
    account,
    body: { leadId, channel: "whatsapp", message },
    headers: { "idempotency-key": key },
  });

/** All accounts and routes use this text: it is another key in each of them. */
const key = "key-1";

test("a retry returns the message after the conversation was closed, and 404 after the lead was deleted, as the retry of the lead does", async () => {
  const { id } = (await create("later", key)).body;
  const { body } = await send("later", key, id);
  await setStatus("later", body.conversationId, "closed");
  expect((await send("later", `"${key}"`, id)).body).toEqual(body);
  memory.delete(leadKey("later", id));
  expect((await create("later", key)).problem.code).toBe("lead_not_found");
  expect((await send("later", key, id)).problem.code).toBe("lead_not_found");
  expect((await send("later", key, id, "Another")).problem.code).toBe("idempotency_key_reused");
  for (const another of ["key-2", "KEY-1"])
    expect((await send("later", another, id)).problem.code).toBe("lead_not_found");
});

test("a key is remembered for a day, or for eight with an inbound message; then it is new even before its record is deleted", async () => {
  stopClock(Date.UTC(2026, 0, 1));
  const account = "expired";
  const headers = { "idempotency-key": key };
  const { id: leadId } = await aLead(account);
  const { id, conversationId } = await aMessage(account, leadId);
  const sending = (direction: string) => (message: string) =>
    call("send-message", { account, headers, body: { leadId, channel: "web", direction, message } });
  const reporting = (delivery: string) => report(account, { id, conversationId }, { delivery }, headers);
  for (const [days, request, input, other] of [
    [1, (name: string) => create(account, key, { ...lead, name }), "Ada", "Grace"],
    [8, sending("inbound"), "Hello", "Bye"],
    [1, sending("outbound"), "Hello", "Bye"],
    [1, reporting, "sent", "read"],
    [1, (status: string) => setStatus(account, conversationId, status, headers), "closed", "active"],
  ] as const) {
    const first = await request(input);
    vi.setSystemTime(Date.now() + days * 86_400_000 - 1);
    const replayed = { "idempotency-replayed": "true" };
    expect(await request(input)).toMatchObject({ headers: replayed, body: first.body });
    expect((await request(other)).problem.code).toBe("idempotency_key_reused");
    vi.setSystemTime(Date.now() + 1);
    expect((await request(other)).headers).not.toMatchObject(replayed);
    expect(await request(other)).toMatchObject({ headers: replayed });
    vi.setSystemTime(Date.now() + days * 86_400_000);
  }
});

test("with ifExists, the same body is another request", async () => {
  const body = { name: "Ada", externalId: "crm-1" };
  expect((await create("acme", key, body)).status).toBe(201);
  const request = { account: "acme", body, headers: { "idempotency-key": key } };
  expect((await call("create-lead", { ...request, query: "ifExists=update" })).status).toBe(422);
});
