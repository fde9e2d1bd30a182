import { expect, vi } from "vitest";
import type { NewLead } from "../../shared/schemas/lead-schemas.ts";
import { call } from "./call.ts";

/** Creates a lead of the account and returns its record. */
export const aLead = vi.defineHelper(async (account: string, input: Partial<NewLead> = {}) => {
  const { status, body } = await call("create-lead", { account, body: { name: "Ada Lovelace", ...input } });
  expect(status, JSON.stringify(body)).toBe(201);
  return body;
});

/** Sends a message and returns its record. One that a busy machine writes too late is sent again. */
export const aMessage = vi.defineHelper(
  async (account: string, leadId: string, channel = "whatsapp", message = "Hello") => {
    const send = () => call("send-message", { account, body: { leadId, channel, message } });
    let { status, body } = await send();
    for (let tries = 1; status === 429 && tries < 5; tries++) ({ status, body } = await send());
    expect(status, JSON.stringify(body)).toBe(201);
    return body;
  },
);
