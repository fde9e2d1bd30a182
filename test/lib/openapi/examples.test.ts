import { randomUUID } from "node:crypto";
import { PutCommand } from "@aws-sdk/lib-dynamodb";
import { expect, test, vi } from "vitest";
import * as examples from "../../../lib/openapi/examples.ts";
import { rateWindowKey } from "../../../shared/dynamodb/keys.ts";
import { canceled } from "../../support/tables/cancellation.ts";

// Read when the handlers are loaded.
process.env.RATE_LIMIT_REQUESTS = "6000";
const { call } = await import("../../support/requests/call.ts");
const { aLead, aMessage, report, setStatus } = await import("../../support/requests/requests.ts");
const { useTable } = await import("../../support/tables/watched-table.ts");
const { table, tableName } = await import("../../../shared/dynamodb/table-client.ts");
useTable();

/** A response body without what differs from run to run: ids, times and seconds to wait. */
const normalize = (response: object): unknown =>
  JSON.parse(
    JSON.stringify(response)
      .replaceAll(/(lead|conv|msg)_[0-9A-Z]{26}/g, "$1_")
      .replaceAll(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, "then")
      .replaceAll(/"requestId":"[^"]+"/g, '"requestId":""')
      .replaceAll(/in \d+ s\./g, "in a moment."),
  );

const account = randomUUID();

test("each example of a request receives the example of its response", async () => {
  let leadId: string | undefined;
  for (const name of ["create-lead", "send-message", "list-leads", "list-conversations"] as const) {
    const body: object | undefined = Object(examples.requestExamples)[name];
    // The message needs the id of an existing lead.
    const sent = body && { ...body, ...("leadId" in body && { leadId }) };
    const { status, body: received } = await call(name, { account, ...(sent && { body: sent }) });
    const expected = normalize(examples.responseExamples[name]);
    expect([name, status, normalize(received)]).toEqual([name, body ? 201 : 200, expected]);
    if (name !== "create-lead") continue;
    leadId = (received as { id: string }).id;
    const update = { query: "ifExists=update", body: { id: leadId, ...examples.updateExamples.lead } };
    const updated = await call(name, { account, ...update });
    expect([updated.status, normalize(updated.body)]).toEqual([
      200,
      normalize(examples.updatedExamples.lead),
    ]);
  }
});

const body = { name: "Ada" };
const key = { "idempotency-key": randomUUID() };
const failing = (error: Error) => vi.spyOn(table, "send").mockRejectedValue(error);
const ways: Record<keyof typeof examples.problemExamples, () => ReturnType<typeof call>> = {
  invalid_input: () =>
    call("create-lead", { account, query: "ifexists=update", body: { ...body, source: "" } }),
  insufficient_access: () => call("create-lead", { account, access: "read", body }),
  lead_exists: async () => {
    await call("create-lead", { account, body: { ...body, externalId: "crm-4711" } });
    return call("create-lead", { account, body: { ...body, externalId: "crm-4711" } });
  },
  lead_not_found: () => call("send-message", { account, body: examples.requestExamples["send-message"] }),
  conversation_exists: async () => {
    const { id } = await aLead(account);
    const { conversationId } = await aMessage(account, id);
    await setStatus(account, conversationId, "closed");
    await aMessage(account, id);
    return setStatus(account, conversationId, "active");
  },
  conversation_changed: async () => {
    const { id } = await aLead(account);
    const { conversationId } = await aMessage(account, id);
    for (const _ of [2, 3]) await aMessage(account, id);
    return setStatus(account, conversationId, "closed", {}, 1);
  },
  conversation_not_found: () => setStatus(account, examples.updateExamples.conversation.id, "closed"),
  message_not_found: () => report(account, examples.updateExamples.message, { delivery: "sent" }),
  unsupported_media_type: () =>
    call("create-lead", { account, body, headers: { "content-type": "text/plain" } }),
  idempotency_key_reused: async () => {
    await call("create-lead", { account, body, headers: key });
    return call("create-lead", { account, body: { name: "Grace" }, headers: key });
  },
  account_frozen: () => call("create-lead", { account, body, frozenAt: "2026-01-01T00:00:00.000Z" }),
  rate_limited: async () => {
    // The limiter must not time out while the table is slow, because it would then let the request pass.
    vi.spyOn(AbortSignal, "timeout").mockReturnValue(new AbortController().signal);
    const start = Math.floor(Date.now() / 60_000) * 60;
    for (const at of [start, start + 60]) {
      const Item = { ...rateWindowKey("busy-account", at), used: 6000 };
      await table.send(new PutCommand({ TableName: tableName, Item }));
    }
    return call("list-leads", { account: "busy-account" });
  },
  too_many_at_once: async () => {
    // The middle of the times after which callers may retry.
    vi.spyOn(Math, "random").mockReturnValue(0.5);
    failing(canceled("TransactionConflict"));
    return call("send-message", { account, body: examples.requestExamples["send-message"] });
  },
  internal_error: async () => {
    failing(new Error("x"));
    return call("create-lead", { account, body });
  },
  busy: async () => {
    failing(Object.assign(new Error("x"), { name: "ThrottlingException" }));
    return call("create-lead", { account, body });
  },
};

test.each(
  Object.keys(ways) as (keyof typeof ways)[],
)("the service returns the example of the problem %s", async (code) => {
  const { problem } = await ways[code]();
  vi.restoreAllMocks();
  expect(normalize(problem)).toEqual(normalize(examples.problemExamples[code]));
});
