import { randomBytes } from "node:crypto";
import { createServer } from "node:http";
import { json } from "node:stream/consumers";
import { afterAll } from "vitest";
import { listening } from "./listening.ts";

/** A text message that the platform has taken, as far as the fake reads it. */
export interface Taken {
  readonly id: string;
  readonly to: string;
  readonly text: { readonly body: string };
  readonly biz_opaque_callback_data?: string;
}

const newId = () => `wamid.${randomBytes(24).toString("base64")}`;

const errorOf = (code: number, details: string) => ({ code, error_data: { details } });

const isNoNumber = errorOf(100, "Param to must be a phone number.");
const isLate = errorOf(
  131047,
  "Message failed to send because more than 24 hours have passed since the customer last replied.",
);

/**
 * A fake of the WhatsApp Cloud API until the test file ends, written from Meta's public documents. A refusal for what the
 * request has comes in the response, and one for its recipient later, by the webhook.
 *
 * @param webhook the URL that receives what happens
 */
export async function startFakeMeta(webhook: string) {
  const taken: Taken[] = [];
  /** Who wrote within the last 24 hours. */
  const windows = new Set<string>();

  async function notify(value: object) {
    const change = { field: "messages", value: { messaging_product: "whatsapp", ...value } };
    const body = { object: "whatsapp_business_account", entry: [{ id: "1", changes: [change] }] };
    const { status } = await fetch(webhook, { method: "POST", body: JSON.stringify(body) });
    if (status !== 200) throw new Error(`The webhook responded with ${status}.`);
  }

  /** Reports a status of a message. */
  const report = ({ id, to, biz_opaque_callback_data }: Taken, status: string, errors?: readonly object[]) =>
    notify({ statuses: [{ id, status, recipient_id: to, biz_opaque_callback_data, errors }] });

  const server = createServer(async (request, response) => {
    const message = { ...((await json(request)) as Omit<Taken, "id">), id: newId() };
    if (!/^\d{7,15}$/.test(message.to))
      return response.writeHead(400).end(JSON.stringify({ error: isNoNumber }));
    taken.push(message);
    response.end(JSON.stringify({ messages: [{ id: message.id }] }));
    if (!windows.has(message.to)) await report(message, "failed", [isLate]);
  });
  afterAll(() => void server.close());

  return {
    url: await listening(server),
    taken,
    report,
    /** A person writes, and the webhook comes a number of times. */
    async write(from: string, name: string, body: string, times = 1) {
      windows.add(from);
      const contacts = [{ profile: { name }, wa_id: from }];
      const message = { from, id: newId(), type: "text", text: { body } };
      for (let n = 0; n < times; n++) await notify({ contacts, messages: [message] });
    },
  };
}
