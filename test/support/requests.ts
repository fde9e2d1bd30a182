import { expect } from "vitest";
import type { NewLead } from "../../shared/schemas/lead-schemas.ts";
import { call } from "./call.ts";

/** Creates a lead of the account and gives its record. */
export async function aLead(account: string, input: Partial<NewLead> = {}) {
  const { status, body } = await call("create-lead", { account, body: { name: "Ada Lovelace", ...input } });
  expect(status).toBe(201);
  return body;
}

/** Sends a message and gives its record. */
export async function aMessage(account: string, leadId: string, channel = "whatsapp", message = "Hello") {
  const { status, body } = await call("send-message", { account, body: { leadId, channel, message } });
  expect(status).toBe(201);
  return body;
}
