import { createHmac, randomBytes } from "node:crypto";
import { createServer } from "node:http";
import { json } from "node:stream/consumers";
import { afterAll } from "vitest";
import { listening } from "./listening.ts";

/** A text message that the platform has accepted, as far as the fake reads it. */
export interface Taken {
  readonly id: string;
  readonly channel: "whatsapp" | "instagram";
  /** The telephone number or the account that sends it. */
  readonly sender: string;
  readonly to: string;
  readonly text: string;
  readonly token: string;
  readonly callbackData?: string;
}

/** A message that a person writes. */
interface Written extends Pick<Taken, "channel" | "sender" | "text"> {
  readonly from: string;
  readonly name: string;
}

// biome-ignore lint/suspicious/noExplicitAny: what the fake receives and does not check
type Received = any;

const newId = () => `wamid.${randomBytes(24).toString("base64")}`;

const errorOf = (code: number, details: string) => ({ code, error_data: { details } });

const isNoNumber = errorOf(100, "Param to must be a phone number.");
const isLate = errorOf(
  131047,
  "Message failed to send because more than 24 hours have passed since the customer last replied.",
);

type Refusal = readonly [status: number, error: object];

/** The words for which the platform rejects a text, with the number of rejected attempts. */
const refusals: readonly (readonly [word: string, attempts: number, ...Refusal])[] = [
  ["refused", Number.POSITIVE_INFINITY, 400, errorOf(131026, "Message undeliverable.")],
  ["busy", 2, 400, errorOf(130429, "Rate limit hit.")],
  ["down", 1, 503, {}],
];

function readMessage(url: string, token: string, body: Received): Taken {
  const [, sender = ""] = /([^/]*)\/messages$/.exec(url) ?? [];
  const common = { id: newId(), sender, token };
  return body.messaging_product === "whatsapp"
    ? {
        ...common,
        channel: "whatsapp",
        to: body.to,
        text: body.text.body,
        callbackData: body.biz_opaque_callback_data,
      }
    : // The token of a page identifies the account that sends.
      {
        ...common,
        channel: "instagram",
        sender: token.replace("Bearer of-", ""),
        to: body.recipient.id,
        text: body.message.text,
      };
}

const ofWhatsApp = (sender: string, value: object) => ({
  object: "whatsapp_business_account",
  entry: [
    { id: "1", changes: [{ field: "messages", value: { metadata: { phone_number_id: sender }, ...value } }] },
  ],
});

const ofInstagram = (sender: string, lead: string, part: object) => ({
  object: "instagram",
  entry: [{ id: sender, messaging: [{ sender: { id: lead }, recipient: { id: sender }, ...part }] }],
});

const toWebhook = ({ channel, sender, from, name, text }: Written) =>
  channel === "instagram"
    ? ofInstagram(sender, from, { message: { mid: newId(), text } })
    : ofWhatsApp(sender, {
        contacts: [{ profile: { name }, wa_id: from }],
        messages: [{ from, id: newId(), type: "text", text: { body: text } }],
      });

/**
 * Starts a fake of WhatsApp and Instagram until the test file ends, written from Meta's public documents. A rejection of the
 * request comes in the response. A rejection because of the recipient comes later, by the webhook.
 *
 * @param secret of the app, which signs the webhooks
 */
export async function startFakeMeta(secret: string) {
  const taken: Taken[] = [];
  /** The people who wrote within the last 24 hours. */
  const windows = new Set<string>();
  const attempts = new Map<string, number>();
  const meta = { taken, windows, webhook: "", notify, report, write };

  async function notify(body: object) {
    const text = JSON.stringify(body);
    const signature = createHmac("sha256", secret).update(text).digest("hex");
    const headers = { "x-hub-signature-256": `sha256=${signature}` };
    const send = () => fetch(meta.webhook, { method: "POST", body: text, headers });
    let { status } = await send();
    // Meta retries the webhook for days.
    for (let n = 0; n < 3 && status >= 500; n++) ({ status } = await send());
    if (status !== 200) throw new Error(`The webhook responded with ${status}.`);
  }

  /** Reports a state of a message. */
  async function report({ id, channel, sender, to, callbackData }: Taken, status: string, errors?: object[]) {
    const common = { id, status, recipient_id: to, biz_opaque_callback_data: callbackData, errors };
    if (channel === "whatsapp") await notify(ofWhatsApp(sender, { statuses: [common] }));
    // Instagram reports no other state.
    else if (status === "read") await notify(ofInstagram(sender, to, { read: { mid: id } }));
  }

  /** Several people write at once. The webhook is delivered the given number of times. */
  async function write(written: readonly Written[], times = 1) {
    for (const { from } of written) windows.add(from);
    for (const all of Map.groupBy(written.map(toWebhook), ({ object }) => object).values()) {
      const [{ object = "" } = {}] = all;
      const body = { object, entry: all.flatMap(({ entry }): object[] => entry) };
      for (let n = 0; n < times; n++) await notify(body);
    }
  }

  const server = createServer(async (request, response) => {
    const { url = "", headers } = request;
    const message = readMessage(url, headers.authorization ?? "", await json(request));
    const { id, channel, sender, to, text } = message;
    const name = [sender, to, text].join();
    const attempt = (attempts.get(name) ?? 0) + 1;
    attempts.set(name, attempt);
    const [, , ...refusal] = refusals.find(([word, last]) => text.includes(word) && attempt <= last) ?? [];
    const isWrong = channel === "whatsapp" && !/^\d{7,15}$/.test(to);
    const [status = 200, error] = isWrong ? [400, isNoNumber] : refusal;
    if (error) return response.writeHead(status).end(JSON.stringify({ error }));
    taken.push(message);
    // Instagram sends the account an echo of each message that it has sent, also through this service.
    const echo = { sender: { id: sender }, recipient: { id: to }, message: { mid: id, text, is_echo: true } };
    if (channel === "instagram") await notify(ofInstagram(sender, sender, echo));
    if (text.includes("lost") && attempt === 1) {
      response.destroy();
      await report(message, "sent");
    } else response.end(JSON.stringify(channel === "whatsapp" ? { messages: [{ id }] } : { message_id: id }));
    if (!windows.has(to) || text.includes("late")) await report(message, "failed", [isLate]);
  });
  afterAll(() => void server.close());
  return Object.assign(meta, { url: await listening(server) });
}
