import { randomUUID } from "node:crypto";
import { expect } from "vitest";
import type { Key } from "../../../../shared/dynamodb/table-client.ts";
import { call } from "../../../support/call.ts";
import type { TestRequest } from "../../../support/events.ts";
import { compareItems, tableItems } from "../../../support/table-items.ts";

export const name = ({ pk, sk }: Key) => `${pk} ${sk}`;

/** A lead with a conversation on each of two channels, all created, and the lead changed, with idempotency keys. @returns the keys of its items */
export async function aKnownLead(account: string, email?: string) {
  const before = await tableItems();
  const requests: TestRequest[] = [];
  const post = async (route: "create-lead" | "send-message", body: object) => {
    const request = { account, body, headers: { "idempotency-key": randomUUID() } };
    const response = await call(route, request);
    expect(response.status).toBe(201);
    requests.push(request);
    return response.body;
  };
  const externalId = `crm-${randomUUID()}`;
  const { id } = await post("create-lead", { name: "Ada", externalId, ...(email && { email }) });
  for (const channel of ["whatsapp", "email", "email"])
    await post("send-message", { leadId: id, channel, message: "Hello" });
  const change = { account, query: "ifExists=update", body: { externalId, name: "Ada Lovelace" } };
  const headers = { "idempotency-key": randomUUID() };
  expect((await call("create-lead", { ...change, headers })).status).toBe(200);
  const { added } = compareItems(before, await tableItems());
  // The lead, its external id, two conversations with their locks, three messages, and a record of each request.
  expect(added).toHaveLength(14);
  return { id, externalId, requests, items: added };
}
