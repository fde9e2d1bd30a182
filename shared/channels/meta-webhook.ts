import { createHmac, timingSafeEqual } from "node:crypto";
import type { MetaChannel } from "../meta-channels.ts";
import { type Content, type Fields, isFilled, readContent, toFields, toTime } from "./message-content.ts";

interface OfSender {
  readonly channel: MetaChannel;
  /** Meta's id of the account's telephone number or Instagram account. */
  readonly sender: string;
}

/** A message that a lead or the account has written. */
export interface ReceivedMessage extends OfSender, Content {
  readonly kind: "message";
  /** Meta's id of the message. */
  readonly id: string;
  /** The lead's addresses, the preferred one first. On WhatsApp: the telephone number, unless hidden, and the user id. */
  readonly addresses: readonly string[];
  /** The name in the lead's profile. Instagram does not send it. */
  readonly name?: string;
  /** Whether the account has sent it, from this service, another app or the phone. The addresses are the recipient's. */
  readonly isEcho?: true;
}

/** The new state of a message that was sent. */
export interface ReportedState extends OfSender {
  readonly kind: "state";
  /** Meta's id of the message. */
  readonly providerId: string;
  readonly delivery: "sent" | "delivered" | "read" | "failed";
  /** The code and the text of a failure. */
  readonly deliveryError?: string;
  /** The text that was sent with the message, which only WhatsApp returns. */
  readonly callbackData?: string;
  /** The address of the lead, as Meta writes it. */
  readonly lead?: string;
}

/** A lead's change to another telephone number. */
export interface MovedLead extends OfSender {
  readonly kind: "move";
  /** The address of the lead until now. */
  readonly lead: string;
  readonly address: string;
}

export type WebhookEntry = ReceivedMessage | ReportedState | MovedLead;

/**
 * Whether Meta has signed a webhook. The check takes constant time, and reads the bytes as they were received.
 *
 * @param signature the header `X-Hub-Signature-256`
 * @see https://developers.facebook.com/docs/graph-api/webhooks/getting-started#event-notifications
 */
export function isSigned(body: Buffer, signature: string | undefined, appSecret: string): boolean {
  const expected = Buffer.from(`sha256=${createHmac("sha256", appSecret).update(body).digest("hex")}`);
  const sent = Buffer.from(signature ?? "");
  return sent.length === expected.length && timingSafeEqual(sent, expected);
}

/**
 * The entries of a signed webhook, in its order. Parts with an unknown form are left out: Meta adds forms, and redelivers a
 * refused webhook for days.
 */
export function readWebhook(body: unknown): WebhookEntry[] {
  const { object, entry } = toFields(body);
  const read = object === "whatsapp_business_account" ? readWhatsApp : readInstagram;
  return object === "whatsapp_business_account" || object === "instagram"
    ? toFieldsList(entry).flatMap(read)
    : [];
}

const toFieldsList = (value: unknown): readonly Fields[] => (Array.isArray(value) ? value.map(toFields) : []);

/** Whether a value has the form of an id of Meta. */
export const isMetaId = (value: unknown): value is string =>
  typeof value === "string" && /^(?!.*,)[!-~]{1,512}$/.test(value);

/** Whether a value is an id of Meta that can also be an address of a lead. */
const isAddress = (value: unknown): value is string => isMetaId(value) && value.length <= 160;

/** The types of echoes that change an existing message and are no replies. */
const noReplies: readonly unknown[] = ["reaction", "revoke", "edit"];

function readWhatsApp({ changes }: Fields): WebhookEntry[] {
  return toFieldsList(changes).flatMap(({ field, value }) => {
    const { metadata, contacts, messages, statuses, message_echoes: echoes } = toFields(value);
    const sender = toFields(metadata).phone_number_id;
    if (!isMetaId(sender)) return [];
    const people = toFieldsList(contacts);
    if (field === "smb_message_echoes")
      return toFieldsList(echoes)
        .filter(({ type }) => !noReplies.includes(type))
        .map(({ to, to_user_id: userId, ...echo }) => ({ ...echo, from: to, from_user_id: userId }))
        .flatMap((echo) => readMessage(sender, echo, people))
        .map((message) => ({ ...message, isEcho: true }));
    if (field !== "messages") return [];
    return [
      ...toFieldsList(messages).flatMap((message) => readMessage(sender, message, people)),
      ...toFieldsList(statuses).flatMap((status) => readStatus(sender, status)),
    ];
  });
}

function readMessage(
  sender: string,
  message: Fields,
  people: readonly Fields[],
): (ReceivedMessage | MovedLead)[] {
  const { id, from, from_user_id: userId, group_id: groupId, timestamp, type: kind, ...parts } = message;
  const addresses = [from, userId].filter(isAddress);
  const [lead] = addresses;
  // A message to a group belongs to no conversation with the lead.
  if (!isMetaId(id) || lead === undefined || groupId !== undefined) return [];
  const type = toKind(kind);
  const { [type]: part, ...others } = parts;
  const { emoji, type: change, wa_id: address } = toFields(part);
  const channel = "whatsapp";
  if (type === "system")
    return change === "user_changed_number" && isAddress(address)
      ? [{ kind: "move", channel, sender, lead, address }]
      : [];
  // A reaction that was taken back needs no reply.
  if (type === "reaction" && !isFilled(emoji)) return [];
  const isOfPerson = (value: unknown) => isFilled(value) && addresses.includes(value);
  const person = people.find(({ wa_id, user_id }) => isOfPerson(wa_id) || isOfPerson(user_id));
  const { name } = toFields(person?.profile);
  const content = readContent({ id, sentAt: toTime(timestamp, 1000), type }, { [type]: part }, others);
  return [{ kind: "message", channel, sender, id, addresses, ...(isFilled(name) && { name }), ...content }];
}

const toKind = (type: unknown) => (isFilled(type) && /^\w{1,50}$/.test(type) ? type : "unknown");

function readStatus(sender: string, report: Fields): WebhookEntry[] {
  const { id: providerId, status: delivery, biz_opaque_callback_data: callbackData } = report;
  // Meta has more states, such as `deleted`.
  if (!isMetaId(providerId) || !isDelivery(delivery)) return [];
  const lead = [report.recipient_id, report.recipient_user_id].find(isAddress);
  return [
    {
      kind: "state",
      channel: "whatsapp",
      sender,
      providerId,
      delivery,
      ...(lead !== undefined && { lead }),
      ...(delivery === "failed" && { deliveryError: describeError(toFieldsList(report.errors)[0] ?? {}) }),
      ...(isFilled(callbackData) && { callbackData }),
    },
  ];
}

const isDelivery = (value: unknown): value is ReportedState["delivery"] =>
  ["sent", "delivered", "read", "failed"].some((delivery) => delivery === value);

/** An error of the Graph API in one line: its code and its most detailed text. */
export function describeError(error: Fields): string {
  const { code = "unknown", title, message, error_data: data } = error;
  const text = [toFields(data).details, message, title].find(isFilled);
  return text === undefined ? String(code) : `${code}: ${text}`;
}

function readInstagram({ id: sender, messaging }: Fields): WebhookEntry[] {
  if (!isMetaId(sender)) return [];
  return toFieldsList(messaging).flatMap((event): WebhookEntry[] => {
    const message = toFields(event.message ?? event.postback);
    const { mid, text, title, attachments, is_echo: isEcho, is_deleted: isDeleted, ...others } = message;
    const lead = toFields(isEcho ? event.recipient : event.sender).id;
    // An account can write to itself.
    if (!isAddress(lead) || lead === sender) return [];
    const { mid: readId } = toFields(event.read);
    if (isMetaId(readId))
      return [{ kind: "state", channel: "instagram", sender, providerId: readId, delivery: "read", lead }];
    if (!isMetaId(mid) || isDeleted) return [];
    // A button that people tap, such as an ice breaker, has a title instead of a text.
    const written = text ?? title;
    const [attachment] = toFieldsList(attachments);
    const type = !attachment && isFilled(written) ? "text" : toKind(attachment?.type);
    const known = { id: mid, sentAt: toTime(event.timestamp, 1), type };
    const content = readContent(known, { text: written, attachments }, others);
    const common = { kind: "message", channel: "instagram", sender, id: mid, addresses: [lead] } as const;
    return [{ ...common, ...(isEcho ? { isEcho: true } : {}), ...content }];
  });
}
