import type { ServiceEvent } from "../domain/event-schemas.ts";
import type { MetaChannel } from "../meta-channels.ts";
import { describeError, isMetaId } from "./meta-webhook.ts";
import { toCallbackData } from "./store-delivery.ts";

/** The URL of the Graph API, with its version. */
const { GRAPH_URL = "" } = process.env;

/** How long to wait for a response of the Graph API, in milliseconds. */
const patience = 20_000;

export type MessageSent = Extract<ServiceEvent, { type: "message.sent" }> & { readonly channel: MetaChannel };

/** A message to send through the Graph API, and Meta's id of the telephone number or the Instagram account that sends it. */
export type GraphMessage = MessageSent & { readonly to: string; readonly sender: string };

/** The final result of a message: another attempt would change nothing. */
export type Sent =
  | { readonly delivery: "sent"; readonly providerId?: string }
  | { readonly delivery: "failed"; readonly deliveryError: string };

/** Thrown if another attempt may succeed. */
export class UndeliveredError extends Error {
  override readonly name = "UndeliveredError";
  /** Whether an operator must act at Meta or store a new token. */
  readonly isRefusedSender: boolean;
  /** The shortest pause before the next attempt, in seconds. */
  readonly pause: number;

  constructor(message: string, { isRefusedSender = false, pause = 0 } = {}) {
    super(message);
    this.isRefusedSender = isRefusedSender;
    this.pause = pause;
  }
}

/** Codes for too many calls, or too many messages to one lead: Meta has not accepted the message. */
const throttles: readonly unknown[] = [4, 613, 80007, 130429, 131056];

/** Codes for an outage at Meta, which may have accepted the message. */
const outages: readonly unknown[] = [1, 2, 131000, 131016, 133004];

/** Codes for a refused sender: it is locked, not paid for, not registered, or may not send. */
const refusedSenders: readonly unknown[] = [0, 3, 10, 190, 368, 131005, 131031, 131042, 133010];

/** Instagram's subcode for a lead that has not written for 24 hours. The code of that error is one of a refused sender. */
const outsideWindow = 2534022;

/** The seconds after which a webhook has reported a message that Meta accepted without a response. */
export const webhookTime = 60;

/** Sends a message. @throws UndeliveredError if another attempt may succeed */
export async function sendByGraph(token: string, message: GraphMessage): Promise<Sent> {
  const response = await request(token, message);
  const body = Object(await response.json().catch(() => undefined));
  const providerId = body.messages?.[0]?.id ?? body.message_id;
  // The status alone decides, whatever the body contains: a retry would send the message twice.
  if (response.ok) return { delivery: "sent", ...(isMetaId(providerId) && { providerId }) };
  const error = Object(body.error);
  // Meta has quoted tokens in its errors.
  const description = describeError({ code: `HTTP ${response.status}`, ...error }).replaceAll(token, "…");
  const { code, error_subcode: subcode } = error;
  if (response.status === 429 || throttles.includes(code)) throw new UndeliveredError(description);
  // If the token has no rights on the sender, Meta responds that the sender does not exist.
  const isHidden = code === 100 && subcode === 33;
  const isOfToken = response.status === 401 || isHidden || (Number(code) >= 200 && Number(code) <= 299);
  if (isOfToken || (refusedSenders.includes(code) && subcode !== outsideWindow))
    throw new UndeliveredError(description, { isRefusedSender: true });
  if (response.status >= 500 || outages.includes(code))
    throw new UndeliveredError(description, { pause: webhookTime });
  return { delivery: "failed", deliveryError: description };
}

async function request(token: string, message: GraphMessage): Promise<Response> {
  const headers = { authorization: `Bearer ${token}`, "content-type": "application/json" };
  const body = JSON.stringify(toBody(message));
  // The token of a page identifies the Instagram account.
  const from = message.channel === "instagram" ? "me" : message.sender;
  const signal = AbortSignal.timeout(patience);
  try {
    return await fetch(`${GRAPH_URL}/${from}/messages`, { method: "POST", headers, body, signal });
  } catch {
    throw new UndeliveredError("The Graph API has not responded.", { pause: webhookTime });
  }
}

function toBody(message: GraphMessage): object {
  const { to, message: text, template } = message;
  if (message.channel === "instagram") return { recipient: { id: to }, message: { text } };
  // A user id has letters and its own field. A leading 00 of a number stands for a +.
  const recipient = /\p{L}/u.test(to) ? { recipient: to } : { to: to.replaceAll(/^\D*00|\D/g, "") };
  const common = {
    messaging_product: "whatsapp",
    recipient_type: "individual",
    ...recipient,
    // WhatsApp returns up to 512 bytes with each state of the message.
    biz_opaque_callback_data: toCallbackData(message),
  };
  if (!template) return { ...common, type: "text", text: { body: text } };
  const { name, language, parameters = [] } = template;
  const values = parameters.map((value) => ({ type: "text", text: value }));
  const components = values.length > 0 ? [{ type: "body", parameters: values }] : [];
  return { ...common, type: "template", template: { name, language: { code: language }, components } };
}
