import type { LambdaFunctionURLEvent, LambdaFunctionURLResult } from "aws-lambda";
import { readSenderAccount } from "../shared/channels/connections.ts";
import { isSigned, readWebhook, type WebhookEntry } from "../shared/channels/meta-webhook.ts";
import { receiveEntry } from "../shared/channels/receive-entry.ts";
import { appSecret, readSecret, verifyToken } from "../shared/channels/secrets.ts";
import { accountFrozen, readFrozenAt } from "../shared/domain/accounts.ts";
import { ApiError } from "../shared/errors.ts";
import { inParallel } from "../shared/in-parallel.ts";
import { parseJson } from "../shared/json.ts";
import * as logEvents from "../shared/logging/log-events.ts";
import { maskedFailures } from "../shared/logging/masked-failures.ts";

/**
 * Receives Meta's webhooks about messages. A request that the stage's app did not sign is refused before it is parsed or the
 * table is read. If a part cannot be stored, Meta retries the whole webhook for days. Each part takes effect once.
 */
async function receive(event: LambdaFunctionURLEvent): Promise<LambdaFunctionURLResult> {
  if (event.requestContext.http.method === "GET") return confirm(event.queryStringParameters ?? {});
  const body = Buffer.from(event.body ?? "", event.isBase64Encoded ? "base64" : "utf8");
  const secret = await readSecret(appSecret);
  const signature = event.headers["x-hub-signature-256"];
  if (secret === undefined) throw new Error("The stage has no app secret from Meta.");
  if (!isSigned(body, signature, secret)) return { statusCode: 401 };
  const failures: unknown[] = [];
  const ofEachLead = Map.groupBy(readWebhook(parseJson(body.toString())), leadOf);
  await inParallel([...ofEachLead.values()], async (entries) => {
    try {
      // One after the other: the messages of a lead keep their order.
      for (const entry of entries) await store(entry);
    } catch (error) {
      // The entries of other leads do not wait for this lead.
      failures.push(error);
    }
  });
  const failure = failures.find((error) => !(error instanceof ApiError && error.code === "account_frozen"));
  if (failure !== undefined) throw failure;
  return { statusCode: failures.length > 0 ? 503 : 200 };
}

const leadOf = (entry: WebhookEntry) => (entry.kind === "message" ? entry.addresses[0] : entry.lead);

async function store(entry: WebhookEntry): Promise<void> {
  const account = await readSenderAccount(entry.channel, entry.sender);
  if (account === undefined) {
    const { channel, sender } = entry;
    console.warn({ event: logEvents.senderUnknown, channel, sender });
    return;
  }
  if (await readFrozenAt(account)) throw accountFrozen();
  await receiveEntry(account, entry);
}

/** Answers the request by which Meta checks once that this URL belongs to the app's owner. */
async function confirm(query: Readonly<Record<string, string | undefined>>) {
  const token = await readSecret(verifyToken);
  const isMeant =
    query["hub.mode"] === "subscribe" && token !== undefined && query["hub.verify_token"] === token;
  const headers = { "content-type": "text/plain" };
  return isMeant ? { statusCode: 200, headers, body: query["hub.challenge"] ?? "" } : { statusCode: 403 };
}

export const handler = maskedFailures(receive);
